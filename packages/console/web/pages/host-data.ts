import type { MetricQuery } from '@sonde/sdk/api'
import type { Columns } from '../api/query-client.ts'

/** What is asked about the host. */
export const HOST_QUERIES = {
  idle: { metric: 'host_cpu_idle_seconds_total', function: 'rate' },
  iowait: { metric: 'host_cpu_iowait_seconds_total', function: 'rate' },
  memoryTotal: { metric: 'host_memory_total_bytes', function: 'last' },
  memoryAvailable: { metric: 'host_memory_available_bytes', function: 'last' },
  pressure: { metric: 'host_pressure_waiting_seconds_total', function: 'rate' },
} as const satisfies Record<string, MetricQuery>

/**
 * The kernel renews pressure every two seconds only, so that the rate of one second is 0 and up to 200 % in turn: a
 * mean over this many milliseconds is what can be said of it.
 */
const PRESSURE_SPAN_MS = 10_000

/** One named column. */
export interface NamedColumn {
  readonly name: string
  readonly values: Float64Array
}

/** The columns of the host; ratios are 0 to 1. */
export interface HostColumns {
  /** Share of time each processor was busy. */
  readonly busy: readonly NamedColumn[]
  /** Mean over the processors. */
  readonly busyMean: Float64Array | undefined
  readonly memoryTotal: Float64Array | undefined
  readonly memoryAvailable: Float64Array | undefined
  readonly memoryUsed: Float64Array | undefined
  /** Share of time in which some task waited, by resource: at every sample the mean of the time before it. */
  readonly pressure: readonly NamedColumn[]
  /** Over how much time `pressure` is a mean. Unit: milliseconds. */
  readonly pressureSpanMs: number
  /** Distance of two samples. Unit: milliseconds. */
  readonly stepMs: number
}

const RESOURCE_NAMES: ReadonlyMap<string, string> = new Map([
  ['cpu', 'a processor'],
  ['memory', 'memory'],
  ['io', 'a disk'],
])

/** A resource that tasks wait for, in words: `a processor`. One that is not known keeps its name. */
export function resourceName(name: string): string {
  return RESOURCE_NAMES.get(name) ?? name
}

/** A host that says nothing. */
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

/** Collects the columns of the host. What it does not say is missing. */
export function hostColumns(answer: Columns): HostColumns {
  const { grid } = answer
  if (!grid) return NO_HOST
  // A simulated node may stand beside the real one: of what both tell, the real host's is shown.
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

/** At every sample the mean of it and those before it, `count` in all, at most 1. A gap stays one. */
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
 * Busy is what is neither idle nor waiting for a disk. Clock ticks make single samples pass the bounds; they are cut.
 */
export function busyShare(idle: Float64Array, iowait: Float64Array | undefined): Float64Array {
  return idle.map((value, i) => {
    const wait = iowait?.[i] ?? 0
    return Math.min(1, Math.max(0, 1 - value - (Number.isNaN(wait) ? 0 : wait)))
  })
}

/** Mean of columns, over those that have a value. */
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
