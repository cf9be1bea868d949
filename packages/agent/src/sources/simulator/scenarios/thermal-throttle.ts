import { onDevice, type Scenario } from './scenario.ts'

/** Air warms up in steps over this time. */
const RAMP_S = 60
const RAMP_STEPS = 6

/** 4.10: a GPU that is not cooled enough. */
export const thermalThrottle: Scenario = {
  name: 'thermal-throttle',
  summary: 'One GPU gets too warm air: it slows down to stay within its limit, and the others wait for it',
  target: 'gpu',
  usualIndex: 3,
  severity: { unit: '°C warmer', min: 4, max: 35, default: 20 },
  durationS: 300,
  effects: (strike) => {
    const { onsetS, endS, severity } = strike
    const stepS = Math.min(RAMP_S, (endS - onsetS) / 2) / RAMP_STEPS
    // Each step adds to those before it.
    const steps = Array.from({ length: RAMP_STEPS }, (_, at) => {
      return onDevice(strike, onsetS + at * stepS, endS, { inletCelsius: severity / RAMP_STEPS })
    })
    return { spans: steps }
  },
}
