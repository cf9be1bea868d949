import { ONE_DEGREE, type Scenario } from './scenario.ts'

/** 4.11: a power supply fails, and the rack activates the power brake. */
export const powerBrake: Scenario = {
  name: 'power-brake',
  summary: 'The rack pulls the power brake: clocks of every GPU halve at once',
  target: 'node',
  usualIndex: 0,
  severity: ONE_DEGREE,
  durationS: 60,
  effects: ({ onsetS, endS }) => ({ spans: [{ fromS: onsetS, toS: endS, gpus: { all: { powerBrake: true } } }] }),
}
