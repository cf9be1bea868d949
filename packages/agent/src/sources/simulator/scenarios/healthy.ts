import { ONE_DEGREE, type Scenario } from './scenario.ts'

/** 4.1: no fault; the node shows the values of the model. */
export const healthy: Scenario = {
  name: 'healthy',
  summary: 'Nothing is wrong: marks, pauses and corrected bits as they always are',
  target: 'node',
  usualIndex: 0,
  severity: ONE_DEGREE,
  durationS: 3600,
  effects: () => ({ spans: [] }),
}
