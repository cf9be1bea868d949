import { onDevice, type Scenario } from './scenario.ts'

/** 4.12: one GPU is slower than the others. */
export const straggler: Scenario = {
  name: 'straggler',
  summary: 'One GPU computes more slowly, and the seven healthy ones wait for it: they look idle, it does not',
  target: 'gpu',
  usualIndex: 5,
  severity: { unit: 'times the compute time', min: 1.05, max: 3, default: 1.25 },
  durationS: 180,
  effects: (strike) => ({ spans: [onDevice(strike, strike.onsetS, strike.endS, { computeFactor: strike.severity })] }),
}
