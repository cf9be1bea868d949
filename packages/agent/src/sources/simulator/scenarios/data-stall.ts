import type { Scenario } from './scenario.ts'

/** 4.14: the loaders do not keep up. */
export const dataStall: Scenario = {
  name: 'data-stall',
  summary: 'Data comes late: every GPU stands still at the start of each step',
  target: 'node',
  usualIndex: 0,
  severity: { unit: 'seconds of wait in each step', min: 0.3, max: 10, default: 1.5 },
  durationS: 180,
  effects: ({ onsetS, endS, severity }) => ({ spans: [{ fromS: onsetS, toS: endS, job: { dataWaitS: severity } }] }),
}
