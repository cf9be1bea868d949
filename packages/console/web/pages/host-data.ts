import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../api/query-client.ts'

function modeRate(mode: string): MetricQuery {
  return { metric: 'host_cpu_seconds_total', function: 'rate', matchers: [{ label: 'mode', op: '=', value: mode }] }
}

/** The queries about the host. */
export const HOST_QUERIES = {
  idle: modeRate('idle'),
  iowait: modeRate('iowait'),
  memoryTotal: { metric: 'host_memory_total_bytes', function: 'last' },
  memoryAvailable: { metric: 'host_memory_available_bytes', function: 'last' },
  pressure: { metric: 'host_pressure_waiting_seconds_total', function: 'rate' },
} as const satisfies Record<string, MetricQuery>

/**
 * The kernel updates pressure only every two seconds, so its rate alternates between 0 and up to 200 %. The page shows
 * the mean over this time. Unit: milliseconds.
 */
const PRESSURE_SPAN_MS = 10_000

/** One named column. */
export interface NamedColumn {
  readonly name: string
  readonly values: Float64Array
}

/** The columns of the host. Ratios range from 0 to 1. */
export interface HostColumns {
  /** Busy share of each processor. */
  readonly busy: readonly NamedColumn[]
  /** Mean busy share of the processors. */
  readonly busyMean: Float64Array | undefined
  readonly memoryTotal: Float64Array | undefined
  readonly memoryAvailable: Float64Array | undefined
  readonly memoryUsed: Float64Array | undefined
  /** Share of time in which a task waited, by resource. Each sample is a mean over the time before it. */
  readonly pressure: readonly NamedColumn[]
  /** Time over which `pressure` is a mean. Unit: milliseconds. */
  readonly pressureSpanMs: number
  /** Interval of the samples. Unit: milliseconds. */
  readonly stepMs: number
}

const RESOURCE_NAMES: ReadonlyMap<string, string> = new Map([
  ['cpu', 'a processor'],
  ['memory', 'memory'],
  ['io', 'a disk'],
])

/** A resource that tasks wait for, in words: `a processor`. An unknown resource keeps its name. */
export function resourceName(name: string): string {
  return RESOURCE_NAMES.get(name) ?? name
}

/** A host without any values. */
export const NO_HOST: HostColumns = {
  busy: [],
  busyMean: undefined,
  memoryTotal: undefined,
  memoryAvailable: undefined,
  memoryUsed: undefined,
  pressure: [],
  pressureSpanMs: PRESSURE_SPAN_MS,
  stepMs: 1_000,
}

/** Collects the columns of the host. Values without samples are missing. */
export function hostColumns(answer: QueryColumns): HostColumns {
  const { grid } = answer
  if (!grid) return NO_HOST
  // If a real and a simulated node report the same metric, the real host is shown.
  const columnsOf = (query: MetricQuery) => {
    const columns = answer.columns(query)
    const real = columns.filter(({ labels }) => labels.simulated !== 'true')
    return real.length > 0 ? real : columns
  }
  const waits = new Map(columnsOf(HOST_QUERIES.iowait).map((column) => [column.labels.cpu, grid.slice(column)]))
  const busy = columnsOf(HOST_QUERIES.idle).map((column) => {
    const name = column.labels.cpu ?? ''
    return { name, values: busyShare(grid.slice(column), waits.get(name)) }
  })
  const single = (query: MetricQuery): Float64Array | undefined => {
    const column = columnsOf(query)[0]
    return column && grid.slice(column)
  }
  const memoryTotal = single(HOST_QUERIES.memoryTotal)
  const memoryAvailable = single(HOST_QUERIES.memoryAvailable)
  return {
    busy,
    busyMean: busy.length > 0 ? meanOf(busy.map(({ values }) => values)) : undefined,
    memoryTotal,
    memoryAvailable,
    memoryUsed: memoryTotal && memoryAvailable && memoryTotal.map((total, i) => total - memoryAvailable[i]!),
    pressure: columnsOf(HOST_QUERIES.pressure).map((column) => ({
      name: column.labels.resource ?? '',
      values: trailingShare(grid.slice(column), Math.max(1, Math.round(PRESSURE_SPAN_MS / grid.stepMs))),
    })),
    pressureSpanMs: Math.max(PRESSURE_SPAN_MS, grid.stepMs),
    stepMs: grid.stepMs,
  }
}

/** The trailing mean over `count` samples, at most 1. Gaps stay gaps. */
export function trailingShare(values: Float64Array, count: number): Float64Array {
  return values.map((value, i) => {
    if (Number.isNaN(value)) return value
    let sum = 0
    let known = 0
    for (let k = Math.max(0, i - count + 1); k <= i; k++) {
      if (Number.isNaN(values[k]!)) continue
      sum += values[k]!
      known++
    }
    return Math.min(1, sum / known)
  })
}

/**
 * Share of time neither idle nor waiting for a disk. Clock ticks push some samples out of range, so values are clamped.
 */
export function busyShare(idle: Float64Array, iowait: Float64Array | undefined): Float64Array {
  return idle.map((value, i) => {
    const wait = iowait?.[i] ?? 0
    return Math.min(1, Math.max(0, 1 - value - (Number.isNaN(wait) ? 0 : wait)))
  })
}

/** Mean of the columns that have a value. */
export function meanOf(columns: readonly Float64Array[]): Float64Array {
  const mean = new Float64Array(columns[0]?.length ?? 0)
  for (let i = 0; i < mean.length; i++) {
    let sum = 0
    let count = 0
    for (const values of columns) {
      if (Number.isNaN(values[i]!)) continue
      sum += values[i]!
      count++
    }
    mean[i] = count === 0 ? Number.NaN : sum / count
  }
  return mean
}
