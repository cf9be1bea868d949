import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../api/query-client.ts'
import { compareNames } from '../format/names.ts'

const rate = (metric: string): MetricQuery => ({ metric, function: 'rate' })
const last = (metric: string): MetricQuery => ({ metric, function: 'last' })

/** The queries about every interface. */
export const INTERFACE_QUERIES = {
  received: rate('netdev_rx_bytes_total'),
  sent: rate('netdev_tx_bytes_total'),
  packetsIn: rate('netdev_rx_packets_total'),
  packetsOut: rate('netdev_tx_packets_total'),
  errorsIn: rate('netdev_rx_errors_total'),
  errorsOut: rate('netdev_tx_errors_total'),
  dropsIn: rate('netdev_rx_dropped_total'),
  dropsOut: rate('netdev_tx_dropped_total'),
  carrierChanges: { metric: 'netdev_carrier_changes_total', function: 'increase' },
  up: last('netdev_up'),
  speed: last('netdev_speed_bytes_per_second'),
} as const satisfies Record<string, MetricQuery>

/** Name of a query about interfaces. */
export type InterfaceSignal = keyof typeof INTERFACE_QUERIES

const NO_SAMPLES = new Float64Array(0)

type SignalColumns = Readonly<Partial<Record<InterfaceSignal, Float64Array>>>

/** The columns of an interface by signal. Signals without samples are missing. */
export interface InterfaceColumns {
  readonly device: string
  readonly simulated: boolean
  readonly columns: SignalColumns
  /** Errors and drops a second, both directions. */
  readonly errors: Float64Array
  readonly drops: Float64Array
}

/**
 * Collects the columns of every interface, ordered by name with the loopback last. If a real and a simulated interface
 * share a name, the real one is used.
 */
export function interfaceColumns(answer: QueryColumns): InterfaceColumns[] {
  const { grid } = answer
  if (!grid) return []
  const worlds = { real: new Map<string, SignalColumns>(), simulated: new Map<string, SignalColumns>() }
  for (const signal of Object.keys(INTERFACE_QUERIES) as InterfaceSignal[]) {
    for (const column of answer.columns(INTERFACE_QUERIES[signal])) {
      const { device = '', simulated } = column.labels
      const byDevice = simulated === 'true' ? worlds.simulated : worlds.real
      byDevice.set(device, { ...byDevice.get(device), [signal]: grid.slice(column) })
    }
  }
  const rows = [...new Map([...worlds.simulated, ...worlds.real])].map(([device, columns]) => ({
    device,
    simulated: !worlds.real.has(device),
    columns,
    errors: sumColumns([columns.errorsIn, columns.errorsOut], grid.length),
    drops: sumColumns([columns.dropsIn, columns.dropsOut], grid.length),
  }))
  return rows.sort((a, b) => Number(a.device === 'lo') - Number(b.device === 'lo') || compareNames(a.device, b.device))
}

/** Adds columns position by position. The sum is absent where all are absent. */
export function sumColumns(columns: readonly (Float64Array | undefined)[], length: number): Float64Array {
  const sum = new Float64Array(length).fill(Number.NaN)
  for (const values of columns) {
    if (!values) continue
    for (let i = 0; i < length; i++) {
      const value = values[i]!
      if (!Number.isNaN(value)) sum[i] = Number.isNaN(sum[i]!) ? value : sum[i]! + value
    }
  }
  return sum
}

/** The newest value of a column among its last `within` samples, NaN if there is none. */
export function newestValue(values: Float64Array | undefined, within = 10): number {
  if (!values) return Number.NaN
  for (let i = values.length - 1; i >= Math.max(0, values.length - within); i--) {
    if (!Number.isNaN(values[i]!)) return values[i]!
  }
  return Number.NaN
}

/** The largest of the last `within` samples, NaN if there is none. */
export function largestOfLast(values: Float64Array, within: number): number {
  let largest = Number.NaN
  for (let i = Math.max(0, values.length - within); i < values.length; i++) {
    if (!(values[i]! <= largest) && !Number.isNaN(values[i]!)) largest = values[i]!
  }
  return largest
}

/** Whether columns have samples, and all of them are 0. */
export function isQuiet(columns: readonly (Float64Array | undefined)[]): boolean {
  const known = columns.map((values) => largestOfLast(values ?? NO_SAMPLES, Number.POSITIVE_INFINITY))
  return known.some((largest) => largest === 0) && known.every((largest) => !(largest > 0))
}
