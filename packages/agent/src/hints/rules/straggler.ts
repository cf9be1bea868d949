import { type Inspection, SHORT_BASE_LEAST_MS } from '../inspection/inspection.ts'
import { maxKnown, median, mediansOfOthers } from '../inspection/numbers.ts'
import type { Scope } from '../inspection/scope.ts'
import { together } from '../inspection/together.ts'
import { isCollective, slowedGpus } from '../inspection/workload.ts'
import type { HintSignal } from '../watch/signal.ts'
import { GPU, NIC } from '../watch/signals.ts'
import { isPassed, type Measure, plainMeasure, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle, percent } from './words.ts'

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
function comparisons(scope: Scope, signal: HintSignal): ReadonlyMap<Inspection, Comparison> {
  return scope.once(`straggler ${signal.metric}`, () => {
    // The MIG instances of a GPU do not share one job.
    const gpus = scope.gpus.filter((inspection) => inspection.last(GPU.migMode) !== 1)
    const overMs = maxKnown(COMPARED_MS, ...gpus.map((inspection) => COMPARED_PERIODS * inspection.periodMs(signal)))
    const { inspections, moments } = together(gpus, signal, overMs)
    if (moments < MOMENTS_LEAST) return new Map()
    const now = inspections.map((inspection) => inspection.mean(signal, overMs))
    const before = gpus.map((inspection) => inspection.base(signal, SHORT_BASE_LEAST_MS))
    const [others, othersBefore] = [mediansOfOthers(now), mediansOfOthers(before)]
    return new Map(
      gpus.map((inspection, i) => [
        inspection,
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

function comparisonOf(inspection: Inspection, signal: HintSignal): Comparison {
  return comparisons(inspection.scope, signal).get(inspection) ?? UNKNOWN
}

/** The job's speed relative to its past: the bytes of all rails in half a minute. */
function stepRate(scope: Scope): number {
  return median(
    scope.rails.map(
      (inspection) => inspection.rate(NIC.sentBytes, STEP_BYTES_OVER_MS) / inspection.base(NIC.sentBytes),
    ),
  )
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
function busierBy(inspection: Inspection): Difference | undefined {
  for (const [what, signal] of [
    ['tensor active', GPU.tensorActive],
    ['SM active', GPU.smActive],
  ] as const) {
    const { own, others, ownBefore, othersBefore } = comparisonOf(inspection, signal)
    const measure = shareMeasure(own, '>=', ACTIVE_FACTOR * others, '% of cycles')
    const isNew = own * othersBefore >= NEW_FACTOR * ownBefore * others
    if (isPassed(measure) && isNew) return { what, measure, others: percent(others), factor: ACTIVE_FACTOR }
  }
  return undefined
}

/** Its clock, if it is lower than that of its siblings, and more so than before. */
function slowerBy(inspection: Inspection): Difference | undefined {
  const { own, others, ownBefore, othersBefore } = comparisonOf(inspection, GPU.clock)
  const measure = plainMeasure(own, '<=', CLOCK_FACTOR * others, 'MHz')
  const isNew = own * othersBefore * NEW_FACTOR <= ownBefore * others
  if (!isPassed(measure) || !isNew) return undefined
  return { what: 'clock', measure, others: measure.write(others, 0), factor: CLOCK_FACTOR }
}

/** The GPU that all others wait for. */
export const stragglerRule: HintRule = {
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
    'several busy GPUs: pipeline stages, or groups of different work': (inspection) =>
      inspection.scope.gpus.filter((one) => busierBy(one) !== undefined).length > 1,
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
  find(inspection) {
    if (!(inspection.mean(GPU.tensorActive) > TENSOR_LEAST)) return undefined
    const difference = busierBy(inspection) ?? slowerBy(inspection)
    if (difference === undefined) return undefined
    const { what, measure, others, factor } = difference
    const rate = stepRate(inspection.scope)
    return {
      title: `All GPUs wait for ${hintDeviceTitle(inspection.device)}`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name}: ${what} ${value}, its siblings ${others}, ${limit} (${factor} × theirs)`,
      affected: slowedGpus(inspection),
      isSure: !(rate > RATE_FACTOR),
    }
  },
}
