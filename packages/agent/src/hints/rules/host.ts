import { EVENT_OVER_MS, type Inspection } from '../inspection/inspection.ts'
import { firstKnown, maxKnown } from '../inspection/numbers.ts'
import type { HintSignal } from '../watch/signal.ts'
import { HOST } from '../watch/signals.ts'
import { countMeasure, isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, duration } from './words.ts'

const TIME_SHARE = 0.1
/** Packages are read one at a time, one a second. Unit: milliseconds. */
const THROTTLE_OVER_MS = 5000

/** A label of the series with the largest increase of a counter. */
function worstOf(inspection: Inspection, signal: HintSignal, label: string, overMs: number): string {
  const labels = inspection.labels(signal)
  const gains = inspection.windows(signal).map((window) => firstKnown(window.increase(overMs), 0))
  return labels[gains.indexOf(Math.max(...gains))]?.[label] ?? ''
}

/** Memory of the node that was lost for good: data were wrong. */
export const hostMemoryRule: HintRule = {
  name: 'host_memory',
  sees: 'A memory controller of the node has an error that it could not correct.',
  severity: 'critical',
  of: 'node',
  neededMs: 0,
  isEvent: true,
  lingerMs: 600_000,
  uses: [HOST.memoryUncorrected, HOST.memoryCorrected],
  shows: [HOST.memoryUncorrected, HOST.memoryCorrected],
  limits: [{ what: 'uncorrected errors', value: 1, unit: 'event', source: 'as for GPUs: a healthy module has none' }],
  not: {},
  toldApart: [
    'corrected errors, which healthy memory has sometimes',
    'errors from before the start of Sonde',
    'counters that an operator set to zero',
  ],
  find(inspection) {
    const errors = inspection.increase(HOST.memoryUncorrected, EVENT_OVER_MS)
    if (!(errors >= 1)) return undefined
    const corrected = firstKnown(inspection.increase(HOST.memoryCorrected, EVENT_OVER_MS), 0)
    const worst = worstOf(inspection, HOST.memoryUncorrected, 'controller', EVENT_OVER_MS)
    return {
      series: { controller: worst },
      title: 'The node has uncorrected memory errors',
      measure: countMeasure(errors, '>=', 1, 'errors in 1 min'),
      sentence: (value, limit) =>
        `Memory controller ${worst} counts ${value} uncorrected errors in the last minute, ${limit}; the node corrected ${amountWords(corrected)}`,
    }
  },
}

/**
 * A processor that is slowed down because it is hot, repeatedly or for long. The kernel adds the time at its end, so
 * one step may be a whole minute.
 */
export const cpuThrottleRule: HintRule = {
  name: 'cpu_throttle',
  sees: 'Heat slows a processor package of the node down for much of the time.',
  severity: 'warning',
  of: 'node',
  neededMs: 10_000,
  uses: [HOST.packageThrottled, HOST.packageThrottles],
  shows: [HOST.packageThrottled, HOST.packageThrottles],
  limits: [{ what: 'time slowed down', value: TIME_SHARE * 100, unit: '%', source: 'as for GPUs' }],
  not: {},
  toldApart: [
    'a moment of heat when load begins: it is counted, but takes no time',
    'a power limit, which is not counted here',
  ],
  find(inspection) {
    const ofMinute = Math.min(1, (inspection.increase(HOST.packageThrottled, EVENT_OVER_MS) * 1000) / EVENT_OVER_MS)
    const ofSeconds = Math.min(1, inspection.rate(HOST.packageThrottled, THROTTLE_OVER_MS))
    const measure = shareMeasure(maxKnown(ofMinute, ofSeconds), '>', TIME_SHARE, '% of time')
    if (!isPassed(measure)) return undefined
    const overMs = ofSeconds > ofMinute ? THROTTLE_OVER_MS : EVENT_OVER_MS
    const name = worstOf(inspection, HOST.packageThrottled, 'package', overMs)
    return {
      series: { package: name },
      title: `Processor ${name} slows down for heat`,
      measure,
      sentence: (value, limit) =>
        `Processor package ${name} was slowed down for heat for ${value} of the last ${duration(overMs)}, ${limit}`,
      ...(ofMinute > TIME_SHARE ? { neededMs: 0 } : {}),
    }
  },
}
