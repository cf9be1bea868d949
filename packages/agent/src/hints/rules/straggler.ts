import { type Look, SHORT_BASE_LEAST_MS } from '../look/look.ts'
import { maxKnown, median, mediansOfOthers } from '../look/numbers.ts'
import type { Scope } from '../look/scope.ts'
import { together } from '../look/together.ts'
import { isCollective, slowedGpus } from '../look/workload.ts'
import type { Signal } from '../watch/signal.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { isPassed, type Measure, plainMeasure, shareMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { percent, titleOf } from './words.ts'

const ACTIVE_FACTOR = 1.08
const CLOCK_FACTOR = 0.92
const RATE_FACTOR = 0.9
/** Least growth of the difference. A constant difference comes from the way the model was split. */
const NEW_FACTOR = 1.05
/** All GPUs are in the same phase of a step at the same time, so two samples are enough for a comparison. */
const COMPARED_MS = 1900
const MOMENTS_LEAST = 2
/** For sources with longer periods: just under two periods. */
const COMPARED_PERIODS = 1.9
const STEP_BYTES_OVER_MS = 30_000
/** Least tensor activity of a training job. Below it, there is nothing to compare. */
const TENSOR_LEAST = 0.05

/** A GPU's value and the median of its siblings at the same moments, now and in the past. NaN if unknown. */
interface Comparison {
  readonly own: number
  readonly others: number
  readonly ownBefore: number
  readonly othersBefore: number
}

const UNKNOWN: Comparison = {
  own: Number.NaN,
  others: Number.NaN,
  ownBefore: Number.NaN,
  othersBefore: Number.NaN,
}

/** Compares all GPUs by a signal, once an instant. */
function comparisons(scope: Scope, signal: Signal): ReadonlyMap<Look, Comparison> {
  return scope.once(`straggler ${signal.metric}`, () => {
    // The MIG instances of a GPU do not share one job.
    const gpus = scope.gpus.filter((look) => look.last(GPU.migMode) !== 1)
    const overMs = maxKnown(COMPARED_MS, ...gpus.map((look) => COMPARED_PERIODS * look.periodMs(signal)))
    const { looks, moments } = together(gpus, signal, overMs)
    if (moments < MOMENTS_LEAST) return new Map()
    const now = looks.map((look) => look.mean(signal, overMs))
    const before = gpus.map((look) => look.base(signal, SHORT_BASE_LEAST_MS))
    const [others, othersBefore] = [mediansOfOthers(now), mediansOfOthers(before)]
    return new Map(
      gpus.map((look, i) => [
        look,
        {
          own: now[i] ?? Number.NaN,
          others: others[i] ?? Number.NaN,
          ownBefore: before[i] ?? Number.NaN,
          othersBefore: othersBefore[i] ?? Number.NaN,
        },
      ]),
    )
  })
}

function comparisonOf(look: Look, signal: Signal): Comparison {
  return comparisons(look.scope, signal).get(look) ?? UNKNOWN
}

/** The job's speed relative to its past: the bytes of all rails in half a minute. */
function stepRate(scope: Scope): number {
  return median(scope.rails.map((look) => look.rate(NIC.sentBytes, STEP_BYTES_OVER_MS) / look.base(NIC.sentBytes)))
}

/** Why others wait for a GPU, with the measure. */
interface Difference {
  readonly what: string
  readonly measure: Measure
  /** The value of its siblings, in words. */
  readonly others: string
  readonly factor: number
}

/** Its tensor or SM activity, if it is busier than its siblings, and more so than before. */
function busierBy(look: Look): Difference | undefined {
  for (const [what, signal] of [
    ['tensor active', GPU.tensorActive],
    ['SM active', GPU.smActive],
  ] as const) {
    const { own, others, ownBefore, othersBefore } = comparisonOf(look, signal)
    const measure = shareMeasure(own, '>=', ACTIVE_FACTOR * others, '% of cycles')
    const isNew = own * othersBefore >= NEW_FACTOR * ownBefore * others
    if (isPassed(measure) && isNew) return { what, measure, others: percent(others), factor: ACTIVE_FACTOR }
  }
  return undefined
}

/** Its clock, if it is lower than that of its siblings, and more so than before. */
function slowerBy(look: Look): Difference | undefined {
  const { own, others, ownBefore, othersBefore } = comparisonOf(look, GPU.clock)
  const measure = plainMeasure(own, '<=', CLOCK_FACTOR * others, 'MHz')
  const isNew = own * othersBefore * NEW_FACTOR <= ownBefore * others
  if (!isPassed(measure) || !isNew) return undefined
  return { what: 'clock', measure, others: measure.write(others, 0), factor: CLOCK_FACTOR }
}

/** The GPU that all others wait for. */
export const straggler: Rule = {
  name: 'straggler',
  sees: 'All other GPUs wait for one GPU: it is the only busy GPU, or its clock is low, and steps take longer than before.',
  severity: 'warning',
  of: 'gpu',
  neededMs: 30_000,
  // A slow rail at the same time makes its steps this long.
  lingerMs: STEP_BYTES_OVER_MS,
  uses: [GPU.tensorActive, GPU.smActive, GPU.clock, GPU.migMode, NIC.sentBytes],
  shows: [GPU.tensorActive, GPU.smActive, GPU.clock],
  limits: [
    {
      what: 'tensor or SM activity',
      value: ACTIVE_FACTOR,
      unit: '× median of siblings',
      source: 'compared with siblings, as Minder does',
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
      unit: '× its mean of 10 min, to confirm',
      source: 'the job is slower than before',
    },
  ],
  not: {
    'a job without collectives: GPUs that serve requests differ all the time': ({ scope }) => !isCollective(scope),
    'several busy GPUs: pipeline stages, or groups of different work': (look) =>
      look.scope.gpus.filter((one) => busierBy(one) !== undefined).length > 1,
  },
  toldApart: [
    'low activity of all GPUs: the network, or a straggler on another node',
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
    const difference = busierBy(look) ?? slowerBy(look)
    if (difference === undefined) return undefined
    const { what, measure, others, factor } = difference
    const rate = stepRate(look.scope)
    return {
      title: `All GPUs wait for ${titleOf(look.device)}`,
      measure,
      sentence: (value, limit) =>
        `${look.device.name}: ${what} ${value}, its siblings ${others}, ${limit} (${factor} × theirs)`,
      affected: slowedGpus(look),
      isSure: !(rate > RATE_FACTOR),
    }
  },
}
