import { type Look, SHORT_BASE_LEAST_MS } from '../look/look.ts'
import { maxKnown, median, mediansOfOthers } from '../look/numbers.ts'
import type { Scope } from '../look/scope.ts'
import { isCollective, slowedGpus } from '../look/workload.ts'
import type { Signal } from '../watch/signal.ts'
import { GPU, NIC } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { percent, titleOf } from './words.ts'

const ACTIVE_FACTOR = 1.08
const CLOCK_FACTOR = 0.92
const RATE_FACTOR = 0.9
/** How much of the difference must be new: what a GPU always does more than others is how the model was split. */
const NEW_FACTOR = 1.05
/** All GPUs are in the same phase of a step at the same time: two samples are enough to compare them. */
const COMPARED_MS = 2000
const STEP_BYTES_OVER_MS = 30_000
/** Tensor activity of a job that trains; below it there is nothing to compare. */
const TENSOR_LEAST = 0.05

/** What one GPU has against the median of its siblings, now and on average of its past. NaN where it is not known. */
interface Comparison {
  readonly now: number
  readonly before: number
}

/** Compares all GPUs by a signal, once an instant. */
function comparisons(scope: Scope, signal: Signal): ReadonlyMap<Look, Comparison> {
  return scope.once(`straggler ${signal.metric}`, () => {
    const { nowMs } = scope
    // What instances of a GPU that MIG splits do is not of one job.
    const gpus = scope.gpus.filter((look) => look.last(GPU.migMode) !== 1)
    const samples = gpus.map((look) => look.samplesSince(signal, nowMs - COMPARED_MS))
    const complete = Math.max(...samples)
    // Means of different moments of a step differ: a GPU that missed a sample is left out.
    const now = factors(gpus.map((look, i) => (samples[i] === complete ? look.mean(signal, COMPARED_MS) : Number.NaN)))
    const before = factors(gpus.map((look) => look.base(signal, SHORT_BASE_LEAST_MS)))
    return new Map(gpus.map((look, i) => [look, { now: now[i] ?? Number.NaN, before: before[i] ?? Number.NaN }]))
  })
}

/** Each value as a multiple of the median of all others. */
function factors(values: readonly number[]): number[] {
  const medians = mediansOfOthers(values)
  return values.map((value, i) => value / (medians[i] ?? Number.NaN))
}

function comparisonOf(look: Look, signal: Signal): Comparison {
  return comparisons(look.scope, signal).get(look) ?? { now: Number.NaN, before: Number.NaN }
}

/** The job's speed against its past: what all rails send in half a minute. */
function stepRate(scope: Scope): number {
  return median(scope.rails.map((look) => look.rate(NIC.sentBytes, STEP_BYTES_OVER_MS) / look.base(NIC.sentBytes)))
}

/** How much busier it is than its siblings, in tensor or SM activity. */
function activeFactor(look: Look): number {
  return maxKnown(comparisonOf(look, GPU.tensorActive).now, comparisonOf(look, GPU.smActive).now)
}

function isBusier(look: Look): boolean {
  return [GPU.tensorActive, GPU.smActive].some((signal) => {
    const { now, before } = comparisonOf(look, signal)
    return now >= ACTIVE_FACTOR && now >= NEW_FACTOR * before
  })
}

function isSlower(look: Look): boolean {
  const { now, before } = comparisonOf(look, GPU.clock)
  return now <= CLOCK_FACTOR && now <= before / NEW_FACTOR
}

/** The GPU that all others wait for. */
export const straggler: Rule = {
  name: 'straggler',
  sees: 'One GPU computes while all others wait for it: it is the busy one, or its clock is low, and steps take longer than they did.',
  severity: 'warning',
  of: 'gpu',
  neededMs: 30_000,
  // A slow rail beside it makes the time between two of its steps as long.
  lingerMs: STEP_BYTES_OVER_MS,
  uses: [GPU.tensorActive, GPU.smActive, GPU.clock, GPU.migMode, NIC.sentBytes],
  shows: [GPU.tensorActive, GPU.smActive, GPU.clock],
  limits: [
    {
      what: 'tensor or SM activity',
      value: ACTIVE_FACTOR,
      unit: '× median of siblings',
      source: 'compared with siblings; Minder does alike',
    },
    {
      what: 'SM clock',
      value: CLOCK_FACTOR,
      unit: '× median of siblings',
      source: 'beyond the spread of healthy boards (5 %)',
    },
    {
      what: 'bytes of a rail in 30 s',
      value: RATE_FACTOR,
      unit: '× its mean of 10 min, to stand',
      source: 'the job is slower at all',
    },
  ],
  not: {
    'a job without collectives: GPUs that serve requests differ all the time': ({ scope }) => !isCollective(scope),
    'more than one: pipeline stages, or groups of different work': (look) =>
      look.scope.gpus.filter(isBusier).length > 1,
  },
  toldApart: [
    'all low and none high: the network, or a straggler on another node',
    'a stage that always does more, or long sequences: the difference is not new',
  ],
  explainedBy: {
    thermal_throttle: 'device',
    gpu_hot: 'device',
    pcie_downtrain: 'node',
    link_slow: 'node',
    power_brake: 'node',
    power_cap: 'node',
    gpu_lost: 'node',
    stuck_collective: 'node',
    checkpoint: 'node',
    link_flap: 'node',
  },
  looksBackMs: STEP_BYTES_OVER_MS,
  find(look) {
    if (!(look.mean(GPU.tensorActive) > TENSOR_LEAST)) return undefined
    if (!isBusier(look) && !isSlower(look)) return undefined
    const factor = activeFactor(look)
    const own = look.mean(GPU.tensorActive)
    const usual = look.usual((one) => one.mean(GPU.tensorActive))
    const clock = comparisonOf(look, GPU.clock).now
    const rate = stepRate(look.scope)
    return {
      title: `All GPUs wait for ${titleOf(look.device)}`,
      sentence: `${look.device.name}: tensor active ${percent(own)}, its siblings ${percent(usual)}, limit ×${ACTIVE_FACTOR}; its clock is at ${percent(clock)} of theirs`,
      value: factor,
      limit: ACTIVE_FACTOR,
      unit: '× siblings',
      affected: slowedGpus(look),
      isSure: !(rate > RATE_FACTOR),
    }
  },
}
