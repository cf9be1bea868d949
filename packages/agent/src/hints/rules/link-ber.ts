import { type Inspection, LATEST_MS, SHORT_BASE_LEAST_MS } from '../inspection/inspection.ts'
import { firstKnown, maxKnown, median } from '../inspection/numbers.ts'
import { lineBytes, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { countMeasure, errorRateMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle, power } from './words.ts'

const BASE_FACTOR = 10
/** A link with a lower rate is healthy, whatever its rate was before. */
const RATE_LEAST = 5e-8
/** If the others moved by more than this factor too, the link is not the cause. */
const TOGETHER_FACTOR = 3
const EFFECTIVE_EVENTS = 2
const EFFECTIVE_PER_S = 1
/**
 * Errors after correction are shown for at least this long after the last error, and rare errors for twice their mean
 * distance. Unit: milliseconds.
 */
const EFFECTIVE_TOLD_MS = 15_000
const PAUSES = 2
const EVENTS_OF_MS = 600_000
const LANE_FACTOR = 20
/** 425 Gb/s of coded bits carry 400 Gb/s. */
const CODED_BITS_PER_BYTE = 8.5

function bitErrorRate(inspection: Inspection): number {
  return firstKnown(
    inspection.last(NIC.rawErrorRate),
    inspection.rate(NIC.correctedBits, LATEST_MS) / (lineBytes(inspection) * CODED_BITS_PER_BYTE),
  )
}

function baseOf(inspection: Inspection): number {
  const corrected =
    inspection.base(NIC.correctedBits, SHORT_BASE_LEAST_MS) / (lineBytes(inspection) * CODED_BITS_PER_BYTE)
  return firstKnown(inspection.base(NIC.rawErrorRate, SHORT_BASE_LEAST_MS), corrected)
}

/** Errors after correction, in 10 minutes. */
function effectiveEvents(inspection: Inspection): number {
  return maxKnown(
    inspection.events(NIC.effectiveErrors),
    inspection.events(NIC.codingErrors),
    inspection.events(NIC.symbolErrors),
  )
}

/** Whether errors after correction recur and continue. */
function isLeaving(inspection: Inspection): boolean {
  const signals = [NIC.effectiveErrors, NIC.codingErrors, NIC.symbolErrors]
  const sinceMs = Math.min(...signals.map((signal) => inspection.sinceRise(signal)))
  const events = effectiveEvents(inspection)
  return events >= EFFECTIVE_EVENTS && sinceMs < Math.max(EFFECTIVE_TOLD_MS, (PAUSES * EVENTS_OF_MS) / events)
}

function effectiveRate(inspection: Inspection): number {
  return maxKnown(
    inspection.rate(NIC.effectiveErrors),
    inspection.rate(NIC.codingErrors),
    inspection.rate(NIC.symbolErrors),
  )
}

/** Growth of the error rate over its past mean. */
function growthOf(inspection: Inspection): number {
  return bitErrorRate(inspection) / Math.max(baseOf(inspection), 1e-12)
}

/** Names the lane with nearly all errors; an empty text if no lane stands out. */
function laneOf(inspection: Inspection): string {
  const rates = inspection.rates(NIC.laneErrors)
  const worst = Math.max(...rates)
  const others = median(rates.filter((rate) => rate !== worst))
  if (!(worst > LANE_FACTOR * Math.max(others, 1))) return ''
  return `; nearly all on lane ${inspection.labels(NIC.laneErrors)[rates.indexOf(worst)]?.lane ?? '?'}`
}

/** A link that gets worse. */
export const linkBerRule: HintRule = {
  name: 'link_ber',
  sees: 'A link has many more bit errors than before, or errors that remain after correction: cable, optics or connector age.',
  severity: 'warning',
  worse: 'critical',
  of: 'nic',
  neededMs: 10_000,
  uses: [NIC.rawErrorRate, NIC.correctedBits, NIC.effectiveErrors, NIC.codingErrors, NIC.symbolErrors, NIC.laneErrors],
  shows: [NIC.rawErrorRate, NIC.correctedBits, NIC.effectiveErrors, NIC.codingErrors, NIC.symbolErrors],
  limits: [
    {
      what: 'bit error rate',
      value: BASE_FACTOR,
      unit: '× its own mean of 10 min',
      source: 'trend before loss; vendors publish no limit',
    },
    {
      what: 'errors left after correction',
      value: EFFECTIVE_EVENTS,
      unit: 'in 10 min, until none for twice their mean distance',
      source: 'a healthy link has none',
    },
    {
      what: 'errors left after correction',
      value: EFFECTIVE_PER_S,
      unit: '/s: critical',
      source: 'packets are lost at this rate',
    },
  ],
  not: {
    'drift of all ports together, as with temperature': (inspection) =>
      !isLeaving(inspection) && inspection.usual(growthOf) > TOGETHER_FACTOR,
  },
  toldApart: ['a long cable with many corrected bits, always the same'],
  explainedBy: {},
  lacksAlways: ['the rate of a week ago'],
  find(inspection) {
    const rate = bitErrorRate(inspection)
    const bits = errorRateMeasure(rate, '>', Math.max(BASE_FACTOR * baseOf(inspection), RATE_LEAST), 'errors a bit')
    if (!isPassed(bits) && !isLeaving(inspection)) return undefined
    const { name } = inspection.device
    const left = effectiveEvents(inspection)
    const perS = effectiveRate(inspection)
    const each = perS > 0 ? ` (${amountWords(perS)}/s)` : ''
    const siblings = besides(inspection.usual(bitErrorRate), power)
    const lane = laneOf(inspection)
    const found = {
      severity: perS > EFFECTIVE_PER_S ? 'critical' : 'warning',
      affected: perS > EFFECTIVE_PER_S ? slowedGpus(inspection) : [],
    } as const
    if (isPassed(bits)) {
      const errors = left >= 1 ? `, ${amountWords(left)} errors after correction${each}` : ''
      return {
        ...found,
        title: `${hintDeviceTitle(inspection.device)} has more and more bit errors`,
        measure: bits,
        sentence: (value, limit) => `${name} has a bit error rate of ${value}${siblings}, ${limit}${errors}${lane}`,
      }
    }
    const ofBits = Number.isNaN(rate) ? '' : `, a bit error rate of ${power(rate)}${siblings}`
    return {
      ...found,
      title: `${hintDeviceTitle(inspection.device)} has errors after correction`,
      measure: countMeasure(left, '>=', EFFECTIVE_EVENTS, 'errors in 10 min'),
      sentence: (value, limit) =>
        `${name} has ${value} errors after correction in 10 min${each}, ${limit}${ofBits}${lane}`,
    }
  },
}
