import { onDevice, repeats, type Scenario } from './scenario.ts'

/** The period of the neighbour's traffic, unrelated to the steps of the job. */
const PERIOD_S = 8.7
const BUSY_SHARE = 0.7
const CACHE_MISS_FACTOR = 5

/** 4.16: a second tenant on a rail. */
export const noisyNeighbour: Scenario = {
  name: 'noisy-neighbour',
  summary: 'Another tenant sends through the port of one rail, which leaves less bandwidth to the job',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'bytes a second', min: 5e9, max: 30e9, default: 22e9 },
  durationS: 120,
  effects: (strike) => {
    const { node, device, onsetS, endS, severity } = strike
    // A slower port has less capacity for the neighbour.
    const line = node.nics[device.index]?.model.speedBytesPerS ?? severity
    const effect = { neighbourBytesPerS: Math.min(severity, 0.6 * line), cacheMissFactor: CACHE_MISS_FACTOR }
    const starts = repeats(onsetS, endS, PERIOD_S)
    const everyS = starts.length > 1 ? (starts[1] as number) - (starts[0] as number) : endS - onsetS
    return { spans: starts.map((fromS) => onDevice(strike, fromS, fromS + BUSY_SHARE * everyS, effect)) }
  },
}
