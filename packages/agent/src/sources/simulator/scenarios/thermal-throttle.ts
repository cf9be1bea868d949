import { onDevice, type Scenario } from './scenario.ts'

/**
 * Fans stop for so long: then those that are left turn faster. A GPU takes 45 s for most of its way, so that milder air
 * would not show for minutes.
 */
const STALLED_S = 30
/** Warming meanwhile, with which the coolest place of a loaded node gets to the limit. Unit: degrees Celsius. */
const STALLED_CELSIUS = 40

/** 4.10: a GPU that is not cooled enough. */
export const thermalThrottle: Scenario = {
  name: 'thermal-throttle',
  summary: 'One GPU gets too warm air: it slows down to stay within its limit, and the others wait for it',
  target: 'gpu',
  usualIndex: 3,
  // A loaded GPU at the coolest place of a node is some 17 °C below its limit: less would end in nothing.
  severity: { unit: '°C warmer', min: 18, max: 35, default: 20 },
  durationS: 300,
  effects: (strike) => {
    const { onsetS, endS, severity } = strike
    const turnS = Math.min(onsetS + STALLED_S, endS)
    return {
      spans: [
        onDevice(strike, onsetS, turnS, { inletCelsius: STALLED_CELSIUS }),
        onDevice(strike, turnS, endS, { inletCelsius: severity }),
      ],
    }
  },
}
