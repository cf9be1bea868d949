import { EVENT_OVER_MS } from '../look/look.ts'
import { firstKnown } from '../look/numbers.ts'
import { GPU, XID } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { amount, titleOf } from './words.ts'

const CORRECTED_PER_MINUTE = 10
/** A job that ran for so long is well. Unit: milliseconds. */
const HEALTHY_MS = 10_000
const ACTIVE_SHARE = 0.05

/** Memory of a GPU that was lost for good: data were wrong. */
export const eccUncorrected: Rule = {
  name: 'ecc_uncorrected',
  sees: 'A GPU found a memory error that it could not correct, or tells one of the XIDs that say so (48, 64, 94, 95, 140).',
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
  // Once it computes again without a pause, what hangs now has another cause.
  stillExplains: (look) => !(look.min(GPU.smActive, HEALTHY_MS) > ACTIVE_SHARE),
  toldApart: [
    'XID 13, 31, 43 or 45 alone: the application',
    'totals of earlier lives of the board',
    'XID 92 of older parts',
  ],
  find(look) {
    const errors = firstKnown(look.increase(GPU.uncorrectedErrors, EVENT_OVER_MS), 0)
    const told = firstKnown(look.increase(XID.memory, EVENT_OVER_MS), 0)
    if (!(errors + told >= 1)) return undefined
    const action =
      look.last(GPU.remapFailure) === 1
        ? '; a row could not be replaced'
        : look.last(GPU.remapPending) === 1
          ? '; a row waits for a reset'
          : ''
    return {
      title: `${titleOf(look.device)} has uncorrected memory errors`,
      sentence: `${look.device.name} counts uncorrected memory errors: ${amount(errors)} in the last minute, and XIDs of memory: ${amount(told)}, limit 1${action}`,
      value: Math.max(errors, told),
      limit: 1,
      unit: 'errors',
    }
  },
}

/** Memory rows that wait to be replaced, or cannot be. */
export const eccPending: Rule = {
  name: 'ecc_pending',
  sees: 'A memory row of a GPU waits for a reset to be replaced, or could not be replaced.',
  severity: 'warning',
  of: 'gpu',
  neededMs: 3000,
  uses: [GPU.remapPending, GPU.remapFailure],
  shows: [GPU.remapPending, GPU.remapFailure],
  limits: [
    { what: 'pending rows', value: 1, unit: 'drain at the next gap', source: 'Meta GCM, AzureHPC, gpud, DCGM' },
    { what: 'failed rows', value: 1, unit: 'critical: replace the board', source: 'NVIDIA memory-error guide' },
  ],
  not: {},
  explainedBy: { ecc_uncorrected: 'device' },
  find(look) {
    const isFailed = look.last(GPU.remapFailure) >= 1
    if (!isFailed && !(look.last(GPU.remapPending) >= 1)) return undefined
    return {
      severity: isFailed ? 'critical' : 'warning',
      title: isFailed
        ? `${titleOf(look.device)} cannot replace a memory row`
        : `${titleOf(look.device)} waits for a reset`,
      sentence: isFailed
        ? `${look.device.name} could not replace a memory row: the board is at its end`
        : `${look.device.name} has a memory row that the next reset replaces, limit 0`,
      value: 1,
      limit: 0,
      unit: 'rows',
    }
  },
}

/** Corrected errors that come in numbers. */
export const eccCorrected: Rule = {
  name: 'ecc_corrected',
  sees: 'A GPU corrects memory errors at a rate that healthy boards do not have.',
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
  toldApart: ['single corrected errors, and totals of earlier lives'],
  explainedBy: { ecc_uncorrected: 'device' },
  find(look) {
    const errors = look.increase(GPU.correctedErrors, EVENT_OVER_MS)
    if (!(errors > CORRECTED_PER_MINUTE)) return undefined
    const usual = look.usual((other) => other.increase(GPU.correctedErrors, EVENT_OVER_MS), 0)
    return {
      title: `${titleOf(look.device)} corrects many memory errors`,
      sentence: `${look.device.name} corrected ${amount(errors)} memory errors in the last minute, its siblings ${amount(usual)}, limit ${CORRECTED_PER_MINUTE}`,
      value: errors,
      limit: CORRECTED_PER_MINUTE,
      unit: 'errors in 1 min',
    }
  },
}
