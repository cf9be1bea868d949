import type { Labels } from '@sonde/sdk'
import type { Incident, MovedAnswer, MovedSignal } from '@sonde/sdk/api'
import { type History, type ListedType, parseQueryRequest, type SeriesAnswer, turn } from '@sonde/sdk/internal'

/** Time before the onset that gives the usual values, and time after it. Unit: milliseconds. */
const BEFORE_MS = 120_000
const AFTER_MS = 60_000
const STEP_MS = 2000
/** Samples just before the onset may already show the fault. Unit: milliseconds. */
const UNSURE_MS = 6000
/** Metrics of one query. */
const QUERY_METRICS = 32
/** Most metrics that one answer looks at. Policy: the others are counted. */
const METRIC_COUNT_MAX = 600
/** Longest look. Policy: metrics that were not read by then are counted. Unit: milliseconds. */
const LOOK_LIMIT_MS = 5000
const SIGNAL_COUNT_MAX = 24
/** Signals of each device. */
const DEVICE_SIGNAL_COUNT = 3
/** A signal moved if it left its usual value by this many robust deviations. */
const SCORE_LEAST = 4
/** Smallest deviation, as a share of the value: a steady signal must move by some per cent. */
const DEVIATION_LEAST = 0.02
/** Ratio of the standard deviation to the median deviation of normal values. */
const MAD_RATIO = 1.4826
const VALUES_LEAST = 5
const FUNCTIONS = { counter: 'rate', gauge: 'last' } as const

/** Options of {@link movedSignals}. */
export interface MovedOptions {
  readonly incident: Incident
  readonly types: Iterable<ListedType>
  readonly history: Pick<History, 'query'>
  /** Id of the device of a series; undefined if it belongs to none. */
  readonly deviceOf: (type: ListedType, labels: Labels) => string | undefined
}

interface AskedMetric {
  readonly type: ListedType
  readonly metric: string
  readonly unit: string
  readonly role: MovedSignal['role']
}

/** The signals that moved when an incident began, the farthest first; and those of each of its devices. */
export async function movedSignals({ incident, types, history, deviceOf }: MovedOptions): Promise<MovedAnswer> {
  const all = metricsOf(types)
  const asked = all.slice(0, METRIC_COUNT_MAX)
  const onsetMs = Math.floor(incident.startMs / STEP_MS) * STEP_MS
  const span = { fromMs: onsetMs - BEFORE_MS, toMs: onsetMs + AFTER_MS, stepMs: STEP_MS }
  const deadlineMs = performance.now() + LOOK_LIMIT_MS
  const moved: MovedSignal[] = []
  let read = 0
  for (; read < asked.length && performance.now() < deadlineMs; read += QUERY_METRICS) {
    const part = asked.slice(read, read + QUERY_METRICS)
    const queries = part.map(({ metric, role }) => ({ metric, function: FUNCTIONS[role] }))
    // A metric with too many series is left out, and the others of its part with it.
    const answer = await history.query(parseQueryRequest({ ...span, queries })).catch(() => undefined)
    for (const [at, { series }] of (answer?.results ?? []).entries()) {
      const metric = part[at]
      if (metric === undefined) continue
      for (const one of series) {
        if ((one.labels.simulated === 'true') !== incident.isSimulated || one.bin !== undefined) continue
        const change = changeOf(one, answer?.times ?? new Float64Array(), onsetMs)
        if (change === undefined) continue
        const device = deviceOf(metric.type, one.labels) ?? ''
        const { metric: name, unit, role } = metric
        moved.push({ metric: name, function: FUNCTIONS[role], role, unit, labels: one.labels, device, ...change })
      }
      if (turn.isOver()) await turn.next()
    }
  }
  const evidence = new Set(incident.hints.flatMap((hint) => hint.evidence.map(({ metric }) => metric)))
  moved.sort(byScore)
  const others = moved.filter(({ metric }) => !evidence.has(metric))
  return {
    onsetMs: incident.startMs,
    signals: strongest(others).slice(0, SIGNAL_COUNT_MAX),
    // The evidence counts here: it may be all that moved on the device at fault.
    devices: [incident.device, ...incident.affected].map((device) => ({
      device,
      signals: moved.filter((signal) => signal.device === device).slice(0, DEVICE_SIGNAL_COUNT),
    })),
    examined: Math.min(read, asked.length),
    leftOut: all.length - Math.min(read, asked.length),
  }
}

function metricsOf(types: Iterable<ListedType>): AskedMetric[] {
  const found: AskedMetric[] = []
  for (const type of types) {
    if (type.name.startsWith('sonde_')) continue
    for (const { metric, role, unit } of type.fields) {
      if (role === 'counter' || role === 'gauge') found.push({ type, metric, unit, role })
    }
  }
  return found
}

/** The change of a series at a time; undefined if it stayed as usual, or has too few values. */
function changeOf({ values }: SeriesAnswer, times: Float64Array, onsetMs: number) {
  const usual: number[] = []
  const later: number[] = []
  for (const [at, value] of values.entries()) {
    const timeMs = times[at] ?? 0
    if (Number.isNaN(value)) continue
    if (timeMs <= onsetMs - UNSURE_MS) usual.push(value)
    else if (timeMs > onsetMs) later.push(value)
  }
  if (usual.length < VALUES_LEAST || later.length < VALUES_LEAST) return undefined
  const before = median(usual)
  const deviation = MAD_RATIO * median(usual.map((value) => Math.abs(value - before)))
  const after = median(later)
  const least = DEVIATION_LEAST * Math.max(Math.abs(before), Math.abs(after))
  const score = Math.abs(after - before) / Math.max(deviation, least)
  return score >= SCORE_LEAST ? { before, after, score } : undefined
}

/** The series of each metric that moved farthest, with the number of its series that moved. */
function strongest(signals: readonly MovedSignal[]): MovedSignal[] {
  return [...Map.groupBy(signals, ({ metric }) => metric).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, moreCount: others.length }],
  )
}

function byScore(a: MovedSignal, b: MovedSignal): number {
  return b.score - a.score || (a.metric < b.metric ? -1 : Number(a.metric > b.metric))
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const high = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? high : (high + (sorted[middle - 1] ?? high)) / 2
}
