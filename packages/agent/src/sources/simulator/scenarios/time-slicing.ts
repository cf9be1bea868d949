import { onDevice, type Scenario } from './scenario.ts'

/** 4.18: processes that take turns on a GPU. */
export const timeSlicing: Scenario = {
  name: 'time-slicing',
  summary: 'Several processes take turns on one GPU: it is in use all the time, and each gets a part of it',
  target: 'gpu',
  usualIndex: 1,
  severity: { unit: 'processes', min: 2, max: 8, default: 3 },
  durationS: 600,
  effects: (strike) => {
    const timeSlices = Math.round(strike.severity)
    return { spans: [onDevice(strike, strike.onsetS, strike.endS, { timeSlices })] }
  },
}
