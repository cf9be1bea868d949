import { EVENT_OVER_MS } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { GPU, XID } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle } from './words.ts'

const CORRECTED_PER_MINUTE = 10
/** A job that ran for this long is healthy. Unit: milliseconds. */
const HEALTHY_MS = 10_000
const ACTIVE_SHARE = 0.05

/** Memory of a GPU that was lost for good: data were wrong. */
export const eccUncorrectedRule: HintRule = {
  name: 'ecc_uncorrected',
  sees: 'A GPU has a memory error that it could not correct, or reports an XID of such an error (48, 64, 94, 95, 140).',
  severity: 'critical',
  of: 'gpu',
  neededMs: 0,
  isEvent: true,
  lingerMs: 600_000,
  uses: [GPU.uncorrectedErrors, XID.memory, GPU.remapPending, GPU.remapFailure],
  shows: [GPU.uncorrectedErrors, XID.memory, GPU.correctedErrors],
  limits: [
    {
      what: 'uncorrected errors, or XID 48, 64, 94, 95, 140',
      value: 1,
      unit: 'event',
      source: 'DCGM, NVIDIA memory-error guide',
    },
  ],
  not: {},
  // A GPU that computes again without a pause has recovered, so a hang has another cause.
  stillExplains: (inspection) => !(inspection.min(GPU.smActive, HEALTHY_MS) > ACTIVE_SHARE),
  toldApart: [
    'XID 13, 31, 43 or 45 alone: the application',
    'totals from before the driver was loaded',
    'XID 92 of older parts',
  ],
  find(inspection) {
    const errors = firstKnown(inspection.increase(GPU.uncorrectedErrors, EVENT_OVER_MS), 0)
    const told = firstKnown(inspection.increase(XID.memory, EVENT_OVER_MS), 0)
    if (!(errors + told >= 1)) return undefined
    const action =
      inspection.last(GPU.remapFailure) === 1
        ? '; a row could not be replaced'
        : inspection.last(GPU.remapPending) === 1
          ? '; a row waits for a reset'
          : ''
    const { name } = inspection.device
    const title = `${hintDeviceTitle(inspection.device)} has uncorrected memory errors`
    if (errors < 1)
      return {
        title,
        measure: countMeasure(told, '>=', 1, 'XIDs in 1 min'),
        sentence: (value, limit) => `${name} reported XIDs of memory: ${value} in the last minute, ${limit}${action}`,
      }
    const also = told >= 1 ? `, and reported XIDs of memory: ${amountWords(told)}` : ''
    return {
      title,
      measure: countMeasure(errors, '>=', 1, 'errors in 1 min'),
      sentence: (value, limit) =>
        `${name} counts uncorrected memory errors: ${value} in the last minute, ${limit}${also}${action}`,
    }
  },
}

/** Memory rows that wait for replacement, or cannot be replaced. */
export const eccPendingRule: HintRule = {
  name: 'ecc_pending',
  sees: 'A memory row of a GPU waits for a reset to be replaced, or could not be replaced.',
  severity: 'warning',
  worse: 'critical',
  of: 'gpu',
  neededMs: 3000,
  uses: [GPU.remapPending, GPU.remapFailure],
  shows: [GPU.remapPending, GPU.remapFailure],
  limits: [
    { what: 'pending rows', value: 1, unit: 'drain the node soon', source: 'Meta GCM, AzureHPC, gpud, DCGM' },
    { what: 'failed rows', value: 1, unit: 'critical: replace the board', source: 'NVIDIA memory-error guide' },
  ],
  not: {},
  explainedBy: { ecc_uncorrected: 'device' },
  find(inspection) {
    const { name } = inspection.device
    const failed = countMeasure(inspection.last(GPU.remapFailure), '>=', 1, 'failures')
    if (isPassed(failed))
      return {
        severity: 'critical',
        title: `${hintDeviceTitle(inspection.device)} cannot replace a memory row`,
        measure: failed,
        sentence: (value, limit) =>
          `${name} could not replace a memory row (its flag is ${value}, ${limit}): replace the board`,
      }
    const pending = countMeasure(inspection.last(GPU.remapPending), '>=', 1, 'rows pending')
    if (!isPassed(pending)) return undefined
    return {
      title: `${hintDeviceTitle(inspection.device)} waits for a reset`,
      measure: pending,
      sentence: (value, limit) =>
        `${name} has a memory row that the next reset replaces (its flag is ${value}, ${limit})`,
    }
  },
}

/** Corrected errors at a high rate. */
export const eccCorrectedRule: HintRule = {
  name: 'ecc_corrected',
  sees: 'A GPU corrects many more memory errors than healthy boards.',
  severity: 'notice',
  of: 'gpu',
  neededMs: 600_000,
  uses: [GPU.correctedErrors],
  shows: [GPU.correctedErrors],
  limits: [
    {
      what: 'corrected errors',
      value: CORRECTED_PER_MINUTE,
      unit: 'in 1 min, for 10 min',
      source: 'healthy: 0 to a few a day',
    },
  ],
  not: {},
  toldApart: ['single corrected errors, and totals from before the driver was loaded'],
  explainedBy: { ecc_uncorrected: 'device' },
  find(inspection) {
    const errors = inspection.increase(GPU.correctedErrors, EVENT_OVER_MS)
    const measure = countMeasure(errors, '>', CORRECTED_PER_MINUTE, 'errors in 1 min')
    if (!isPassed(measure)) return undefined
    const usual = inspection.usual((other) => other.increase(GPU.correctedErrors, EVENT_OVER_MS))
    return {
      title: `${hintDeviceTitle(inspection.device)} corrects many memory errors`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} corrected ${value} memory errors in the last minute${besides(usual, amountWords)}, ${limit}`,
    }
  },
}
