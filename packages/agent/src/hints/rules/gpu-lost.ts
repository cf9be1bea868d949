import { countOf } from '@sonde/sdk/internal'
import { EVENT_OVER_MS, type Look } from '../look/look.ts'
import { GPU, XID } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { Rule } from './rule.ts'
import { duration, titleOf } from './words.ts'

/** Samples that each sibling gave since the last sample of the GPU. A single sample may be missed. */
const MISSED_SAMPLES = 3
const SEEN_MS = 600_000
/** The driver may report a loss before the last sample under way. Unit: milliseconds. */
const TOLD_BEFORE_MS = 5000
/** Samples after XID 79 that show that the GPU answers again. One may have been under way. */
const ANSWERS = 2

/** Fewest samples that a sibling gave since the GPU's last sample. NaN if the GPU answers or no sibling does. */
function missedSamples(look: Look): number {
  const { scope } = look
  const mine = look.lastSeenMs(GPU.power)
  if (!(scope.nowMs - mine < SEEN_MS)) return Number.NaN
  let fewest = Number.NaN
  for (const sibling of scope.siblings(look)) {
    if (!sibling.has(GPU.power)) continue
    const count = sibling.samplesSince(GPU.power, mine)
    // The first sibling without more samples decides, so that a host with hundreds of GPUs stays quick.
    if (count < MISSED_SAMPLES) return Number.NaN
    if (!(fewest <= count)) fewest = count
  }
  return fewest
}

/** Whether the driver reported the GPU as lost, and it has not answered since. */
function isToldLost(look: Look): boolean {
  if (!(look.sinceRise(XID.lost) < SEEN_MS)) return false
  return look.samplesSince(GPU.power, look.scope.nowMs - look.sinceRise(XID.lost)) < ANSWERS
}

/** Whether the driver reported the current loss. Its counter may be silent now, like the GPU. */
function wasToldLost(look: Look): boolean {
  const toldMs = Math.max(...look.windows(XID.lost).map((window) => window.roseMs))
  return toldMs > look.lastSeenMs(GPU.power) - TOLD_BEFORE_MS
}

/** A GPU that fell off the bus. */
export const gpuLost: Rule = {
  name: 'gpu_lost',
  sees: 'A GPU gives no more samples while its siblings do, or the driver reports XID 79.',
  severity: 'critical',
  of: 'gpu',
  neededMs: 5000,
  isEvent: true,
  uses: [GPU.power, XID.lost],
  shows: [GPU.power, XID.lost],
  limits: [
    {
      what: 'samples missing',
      value: MISSED_SAMPLES,
      unit: 'that siblings gave',
      source: 'one is missed now and then',
    },
    { what: 'XID 79', value: 1, unit: 'event', source: 'DCGM, AzureHPC' },
  ],
  not: {
    'a reloaded driver, or a reset: all GPUs are gone, and no XID 79 was reported': (look) =>
      !look.scope.gpus.some((one) => one.has(GPU.power)) && !isToldLost(look),
    'a GPU during the set-up of MIG: only some of its values are gone': (look) =>
      look.has(GPU.migMode) && look.has(GPU.power) && !(look.increase(XID.lost, EVENT_OVER_MS) >= 1),
  },
  toldApart: [
    'a restarted exporter: all GPUs are gone at once',
    'a missed sample',
    'a GPU that answers again: the hint ends',
  ],
  find(look) {
    const { name } = look.device
    const silentMs = look.scope.nowMs - look.lastSeenMs(GPU.power)
    const siblings = look.scope.siblings(look)
    const answering = siblings.filter((other) => other.has(GPU.power)).length
    const others = countOf(answering, 'sibling answers', 'siblings answer')
    const found = { title: `${titleOf(look.device)} is lost`, affected: siblings.map(({ device }) => device) }
    const missed = countMeasure(missedSamples(look), '>=', MISSED_SAMPLES, 'samples missed')
    if (isPassed(missed)) {
      const told = isToldLost(look) || wasToldLost(look) ? '; the driver reports XID 79' : ''
      return {
        ...found,
        measure: missed,
        sentence: (value, limit) =>
          `${name} gave its last sample ${duration(silentMs)} ago, ${others} and gave ${value} or more since, ${limit}${told}`,
      }
    }
    if (!isToldLost(look)) return undefined
    const silent =
      look.has(GPU.power) || !Number.isFinite(silentMs) ? '' : `, and it is silent for ${duration(silentMs)}`
    return {
      ...found,
      measure: countMeasure(Math.max(1, look.events(XID.lost)), '>=', 1, 'XID 79 in 10 min'),
      sentence: (value, limit) =>
        `The driver reported XID 79 of ${name}: ${value} in 10 min, ${limit}${silent}; ${others}`,
    }
  },
}

/** Errors that the driver reports by number. */
export const gpuError: Rule = {
  name: 'gpu_error',
  sees: 'The driver reports an XID of NVLink or of the GPU’s control processor (74, 119, 120), which requires a reset.',
  severity: 'critical',
  of: 'gpu',
  neededMs: 0,
  isEvent: true,
  lingerMs: 600_000,
  uses: [XID.device],
  shows: [XID.device],
  limits: [{ what: 'XID 74, 119 or 120', value: 1, unit: 'event', source: 'DCGM fails, AzureHPC drains' }],
  not: {},
  toldApart: [
    'XID 13, 31, 43 and 45: the application',
    'the gauge of the last XID, which keeps its value until the driver is reloaded',
  ],
  find(look) {
    const told = look.increase(XID.device, EVENT_OVER_MS)
    if (!(told >= 1)) return undefined
    return {
      title: `${titleOf(look.device)} reports an error`,
      measure: countMeasure(told, '>=', 1, 'XIDs in 1 min'),
      sentence: (value, limit) =>
        `${look.device.name} reported XID 74, 119 or 120: ${value} in the last minute, ${limit}`,
    }
  },
}
