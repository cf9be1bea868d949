import { onDevice, type Scenario } from './scenario.ts'

/**
 * Time without fans, until the remaining fans speed up. A GPU needs 45 s for most of its temperature change, so milder
 * air would have no visible effect for minutes.
 */
const STALLED_S = 30
/**
 * Warming during this time. It brings even the coolest position of a loaded node to the limit. Unit: degrees Celsius.
 */
const STALLED_CELSIUS = 40

/** 4.10: a GPU with insufficient cooling. */
export const thermalThrottle: Scenario = {
  name: 'thermal-throttle',
  summary: 'One GPU gets too warm air: it slows down to stay within its limit, and the others wait for it',
  target: 'gpu',
  usualIndex: 3,
  // A loaded GPU at the coolest position is about 17 °C below its limit; a smaller severity would have no effect.
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
