import type { DiagLimits } from '../../native/doca/diag.ts'
import type { DiagOptions } from './config.ts'

/** Longest time between drains while rules watch the samples. Unit: nanoseconds. */
const DRAIN_NS_MAX = 50e6
const DRAIN_NS_MIN = 1e6
/** Longest time between drains while no rule watches; reports are rarer than that. Unit: nanoseconds. */
const REST_NS_MAX = 100e6
/** Time for which the device keeps samples if it can, so that a drain may be late. Unit: nanoseconds. */
const KEPT_NS = 1e9
/** Memory for the samples of one query. Unit: bytes. */
const QUERY_BYTES_MAX = 4 << 20
const QUERY_SAMPLES_MIN = 16
const LATEST_LOG = 2

/** How the counters of a device are sampled, drained and kept. */
export interface SamplingPlan {
  /** Requested time between samples; 0: the device takes a sample on request. Unit: nanoseconds. */
  readonly periodNs: number
  /** Logarithm to base 2 of the number of samples that the device keeps. */
  readonly logSamples: number
  readonly querySamples: number
  /** Time between two drains; 0: no drains. Unit: microseconds. */
  readonly drainUs: number
  /** Time between two drains while no rule watches the samples; a multiple of `drainUs`. Unit: microseconds. */
  readonly restUs: number
  /** Number of samples that are kept at full rate. */
  readonly ringSamples: number
  readonly hasRealTime: boolean
}

/**
 * Computes the sampling to request from a device.
 *
 * @param intervalMs Time between two reports. Unit: milliseconds.
 */
export function planOf(
  options: Pick<DiagOptions, 'high_frequency' | 'sample_period_us' | 'ring_ms'>,
  limits: DiagLimits,
  intervalMs: number,
  counters: number,
): SamplingPlan {
  const { hasRealTime } = limits
  const common = { hasRealTime, ringSamples: 0, querySamples: QUERY_SAMPLES_MIN, drainUs: 0, restUs: 0 }
  if (!options.high_frequency) {
    if (limits.onDemand) return { ...common, periodNs: 0, logSamples: 0 }
    return { ...common, periodNs: intervalMs * 1e6, logSamples: Math.min(LATEST_LOG, limits.logMaxSamples) }
  }
  const periodNs = options.sample_period_us * 1000
  const logSamples = Math.min(limits.logMaxSamples, Math.max(1, Math.ceil(Math.log2(KEPT_NS / periodNs))))
  return { ...common, periodNs, logSamples, ...paceOf(options, { periodNs, logSamples, intervalMs, counters }) }
}

/** Computes how often a device is drained and how many samples a query reads. */
export function paceOf(
  { ring_ms: ringMs }: Pick<DiagOptions, 'ring_ms'>,
  sampling: {
    readonly periodNs: number
    readonly logSamples: number
    readonly intervalMs: number
    readonly counters: number
  },
): Pick<SamplingPlan, 'querySamples' | 'drainUs' | 'restUs' | 'ringSamples'> {
  const { periodNs, logSamples, intervalMs, counters } = sampling
  // Half of the time that the device keeps samples: a drain that is late by the same time loses nothing.
  const halfNs = (2 ** logSamples * periodNs) / 2
  const longestNs = Math.min(halfNs, intervalMs * 1e6)
  const drainNs = Math.max(DRAIN_NS_MIN, Math.min(DRAIN_NS_MAX, longestNs))
  const restNs = drainNs * Math.max(1, Math.floor(Math.min(REST_NS_MAX, longestNs) / drainNs))
  const roomSamples = Math.floor(QUERY_BYTES_MAX / (16 + 8 * counters))
  const querySamples = Math.max(
    QUERY_SAMPLES_MIN,
    Math.min(roomSamples, 2 ** logSamples, Math.ceil((2 * restNs) / periodNs)),
  )
  const ringSamples = Math.ceil((ringMs * 1e6) / periodNs)
  return { querySamples, drainUs: Math.round(drainNs / 1000), restUs: Math.round(restNs / 1000), ringSamples }
}
