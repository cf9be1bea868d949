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

const SIGNALS = Object.keys(INTERFACE_QUERIES) as InterfaceSignal[]

type OwnColumns = Partial<Record<InterfaceSignal, Float64Array>>
type SignalColumns = Readonly<OwnColumns>

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
  const worlds = { real: new Map<string, OwnColumns>(), simulated: new Map<string, OwnColumns>() }
  for (const signal of SIGNALS) {
    for (const column of answer.columns(INTERFACE_QUERIES[signal])) {
      const { device = '', simulated } = column.labels
      const byDevice = simulated === 'true' ? worlds.simulated : worlds.real
      const own = byDevice.get(device) ?? {}
      own[signal] = grid.slice(column)
      byDevice.set(device, own)
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

/**
 * Adds columns position by position. The sum is absent where all are absent. A column that adds nothing, as most errors
 * do, costs no memory: the sum may be one of the given columns.
 */
export function sumColumns(columns: readonly (Float64Array | undefined)[], length: number): Float64Array {
  const [first, ...others] = columns.filter((values) => values !== undefined)
  if (first === undefined) return new Float64Array(length).fill(Number.NaN)
  const adding = others.filter((values) => addsTo(first, values))
  if (adding.length === 0) return first
  const sum = first.slice(0, length)
  for (const values of adding) addTo(sum, values)
  return sum
}

/** Whether a column changes a sum: it has a value above 0, or one where the sum has none. */
function addsTo(sum: Float64Array, values: Float64Array): boolean {
  for (let i = 0; i < sum.length; i++) {
    if (values[i]! > 0 || (Number.isNaN(sum[i]!) && !Number.isNaN(values[i]!))) return true
  }
  return false
}

function addTo(sum: Float64Array, values: Float64Array): void {
  for (let i = 0; i < sum.length; i++) {
    const value = values[i]!
    if (Number.isNaN(sum[i]!)) sum[i] = value
    else if (!Number.isNaN(value)) sum[i]! += value
  }
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
