import { countOf } from '@sonde/sdk/internal'
import { EVENT_OVER_MS, type Inspection } from '../inspection/inspection.ts'
import { GPU, XID } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { duration, hintDeviceTitle } from './words.ts'

/** Samples that each sibling gave since the last sample of the GPU. A single sample may be missed. */
const MISSED_SAMPLES = 3
const SEEN_MS = 600_000
/** The driver may report a loss before the last sample under way. Unit: milliseconds. */
const TOLD_BEFORE_MS = 5000
/** Samples after XID 79 that show that the GPU answers again. One may have been under way. */
const ANSWERS = 2

/** Fewest samples that a sibling gave since the GPU's last sample. NaN if the GPU answers or no sibling does. */
function missedSamples(inspection: Inspection): number {
  const { scope } = inspection
  const mine = inspection.lastSeenMs(GPU.power)
  if (!(scope.nowMs - mine < SEEN_MS)) return Number.NaN
  let fewest = Number.NaN
  for (const sibling of scope.siblings(inspection)) {
    if (!sibling.has(GPU.power)) continue
    const count = sibling.samplesSince(GPU.power, mine)
    // The first sibling without more samples decides, so that a host with hundreds of GPUs stays quick.
    if (count < MISSED_SAMPLES) return Number.NaN
    if (!(fewest <= count)) fewest = count
  }
  return fewest
}

/** Whether the driver reported the GPU as lost, and it has not answered since. */
function isToldLost(inspection: Inspection): boolean {
  if (!(inspection.sinceRise(XID.lost) < SEEN_MS)) return false
  return inspection.samplesSince(GPU.power, inspection.scope.nowMs - inspection.sinceRise(XID.lost)) < ANSWERS
}

/** Whether the driver reported the current loss. Its counter may be silent now, like the GPU. */
function wasToldLost(inspection: Inspection): boolean {
  const toldMs = Math.max(...inspection.windows(XID.lost).map((window) => window.roseMs))
  return toldMs > inspection.lastSeenMs(GPU.power) - TOLD_BEFORE_MS
}

/** A GPU that fell off the bus. */
export const gpuLostRule: HintRule = {
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
    'a reloaded driver, or a reset: all GPUs are gone, and no XID 79 was reported': (inspection) =>
      !inspection.scope.gpus.some((one) => one.has(GPU.power)) && !isToldLost(inspection),
    'a GPU during the set-up of MIG: only some values are gone': (inspection) =>
      inspection.has(GPU.migMode) && inspection.has(GPU.power) && !(inspection.increase(XID.lost, EVENT_OVER_MS) >= 1),
  },
  toldApart: [
    'a restarted exporter: all GPUs are gone at once',
    'a missed sample',
    'a GPU that answers again: the hint ends',
  ],
  find(inspection) {
    const { name } = inspection.device
    const silentMs = inspection.scope.nowMs - inspection.lastSeenMs(GPU.power)
    const siblings = inspection.scope.siblings(inspection)
    const answering = siblings.filter((other) => other.has(GPU.power)).length
    const others = countOf(answering, 'sibling answers', 'siblings answer')
    const found = {
      title: `${hintDeviceTitle(inspection.device)} is lost`,
      affected: siblings.map(({ device }) => device),
    }
    const missed = countMeasure(missedSamples(inspection), '>=', MISSED_SAMPLES, 'samples missed')
    if (isPassed(missed)) {
      const told = isToldLost(inspection) || wasToldLost(inspection) ? '; the driver reports XID 79' : ''
      return {
        ...found,
        measure: missed,
        sentence: (value, limit) =>
          `${name} gave its last sample ${duration(silentMs)} ago, ${others} and gave ${value} or more since, ${limit}${told}`,
      }
    }
    if (!isToldLost(inspection)) return undefined
    const silent =
      inspection.has(GPU.power) || !Number.isFinite(silentMs) ? '' : `, and it is silent for ${duration(silentMs)}`
    return {
      ...found,
      measure: countMeasure(Math.max(1, inspection.events(XID.lost)), '>=', 1, 'XID 79 in 10 min'),
      sentence: (value, limit) =>
        `The driver reported XID 79 of ${name}: ${value} in 10 min, ${limit}${silent}; ${others}`,
    }
  },
}

/** Errors that the driver reports by number. */
export const gpuErrorRule: HintRule = {
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
  find(inspection) {
    const told = inspection.increase(XID.device, EVENT_OVER_MS)
    if (!(told >= 1)) return undefined
    return {
      title: `${hintDeviceTitle(inspection.device)} reports an error`,
      measure: countMeasure(told, '>=', 1, 'XIDs in 1 min'),
      sentence: (value, limit) =>
        `${inspection.device.name} reported XID 74, 119 or 120: ${value} in the last minute, ${limit}`,
    }
  },
}
