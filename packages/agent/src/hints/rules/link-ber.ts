import { LATEST_MS, type Look, SHORT_BASE_LEAST_MS } from '../look/look.ts'
import { firstKnown, maxKnown, median } from '../look/numbers.ts'
import { lineOf, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { countMeasure, errorRateMeasure, isPassed } from './measure.ts'
import type { Rule } from './rule.ts'
import { amount, besides, power, titleOf } from './words.ts'

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

function bitErrorRate(look: Look): number {
  return firstKnown(
    look.last(NIC.rawErrorRate),
    look.rate(NIC.correctedBits, LATEST_MS) / (lineOf(look) * CODED_BITS_PER_BYTE),
  )
}

function baseOf(look: Look): number {
  const corrected = look.base(NIC.correctedBits, SHORT_BASE_LEAST_MS) / (lineOf(look) * CODED_BITS_PER_BYTE)
  return firstKnown(look.base(NIC.rawErrorRate, SHORT_BASE_LEAST_MS), corrected)
}

/** Errors after correction, in 10 minutes. */
function effectiveEvents(look: Look): number {
  return maxKnown(look.events(NIC.effectiveErrors), look.events(NIC.codingErrors), look.events(NIC.symbolErrors))
}

/** Whether errors after correction recur and continue. */
function isLeaving(look: Look): boolean {
  const signals = [NIC.effectiveErrors, NIC.codingErrors, NIC.symbolErrors]
  const sinceMs = Math.min(...signals.map((signal) => look.sinceRise(signal)))
  const events = effectiveEvents(look)
  return events >= EFFECTIVE_EVENTS && sinceMs < Math.max(EFFECTIVE_TOLD_MS, (PAUSES * EVENTS_OF_MS) / events)
}

function effectiveRate(look: Look): number {
  return maxKnown(look.rate(NIC.effectiveErrors), look.rate(NIC.codingErrors), look.rate(NIC.symbolErrors))
}

/** Growth of the error rate over its past mean. */
function growthOf(look: Look): number {
  return bitErrorRate(look) / Math.max(baseOf(look), 1e-12)
}

/** Names the lane with nearly all errors; an empty text if no lane stands out. */
function laneOf(look: Look): string {
  const rates = look.rates(NIC.laneErrors)
  const worst = Math.max(...rates)
  const others = median(rates.filter((rate) => rate !== worst))
  if (!(worst > LANE_FACTOR * Math.max(others, 1))) return ''
  return `; nearly all on lane ${look.labels(NIC.laneErrors)[rates.indexOf(worst)]?.lane ?? '?'}`
}

/** A link that gets worse. */
export const linkBer: Rule = {
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
    'drift of all ports together, as with temperature': (look) =>
      !isLeaving(look) && look.usual(growthOf) > TOGETHER_FACTOR,
  },
  toldApart: ['a long cable with many corrected bits, always the same'],
  explainedBy: {},
  lacksAlways: ['the rate of a week ago'],
  find(look) {
    const rate = bitErrorRate(look)
    const bits = errorRateMeasure(rate, '>', Math.max(BASE_FACTOR * baseOf(look), RATE_LEAST), 'errors a bit')
    if (!isPassed(bits) && !isLeaving(look)) return undefined
    const { name } = look.device
    const left = effectiveEvents(look)
    const perS = effectiveRate(look)
    const each = perS > 0 ? ` (${amount(perS)}/s)` : ''
    const siblings = besides(look.usual(bitErrorRate), power)
    const lane = laneOf(look)
    const found = {
      severity: perS > EFFECTIVE_PER_S ? 'critical' : 'warning',
      affected: perS > EFFECTIVE_PER_S ? slowedGpus(look) : [],
    } as const
    if (isPassed(bits)) {
      const errors = left >= 1 ? `, ${amount(left)} errors after correction${each}` : ''
      return {
        ...found,
        title: `${titleOf(look.device)} has more and more bit errors`,
        measure: bits,
        sentence: (value, limit) => `${name} has a bit error rate of ${value}${siblings}, ${limit}${errors}${lane}`,
      }
    }
    const ofBits = Number.isNaN(rate) ? '' : `, a bit error rate of ${power(rate)}${siblings}`
    return {
      ...found,
      title: `${titleOf(look.device)} has errors after correction`,
      measure: countMeasure(left, '>=', EFFECTIVE_EVENTS, 'errors in 10 min'),
      sentence: (value, limit) =>
        `${name} has ${value} errors after correction in 10 min${each}, ${limit}${ofBits}${lane}`,
    }
  },
}
