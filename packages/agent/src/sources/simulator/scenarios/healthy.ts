import { ONE_DEGREE, type Scenario } from './scenario.ts'

/** 4.1: nothing is wrong. What a healthy node shows is the model's own. */
export const healthy: Scenario = {
  name: 'healthy',
  summary: 'Nothing is wrong: marks, pauses and corrected bits as they always are',
  target: 'node',
  usualIndex: 0,
  severity: ONE_DEGREE,
  durationS: 3600,
  effects: () => ({ spans: [] }),
}
