import { SondeError } from '@sonde/sdk'
import { idText } from '../../native/doca/ids.ts'
import { idsOf, placedCounter } from '../doca-telemetry-diag/counters.ts'
import { COUNTERS, type Counter } from '../simulator/observe/nic-reading.ts'
import { diagColumn } from '../simulator/report/doca-diag.ts'

/** Simulated NICs have one port. */
const PORTS = 1
const NS_PER_S = 1e9

/** A number of a NIC, by its index in {@link COUNTERS}, and its factor. */
export type Term = readonly [number: number, factor: number]

/** How the value of a data ID is computed. */
export type DiagColumn =
  /** A sum of whole numbers with whole factors, exact to 64 bits. */
  | { readonly kind: 'count'; readonly terms: readonly Term[] }
  /** Seconds, converted to nanoseconds. */
  | { readonly kind: 'time'; readonly number: number; readonly nsPerS: number }
  /** The longest read over PCIe. */
  | { readonly kind: 'read_latency_max' }
  | { readonly kind: 'constant'; readonly value: number }

/**
 * Resolves names and IDs of counters to data IDs of a simulated NIC.
 *
 * @throws SondeError `SIM_COUNTER` if the NIC lacks a counter.
 */
export function simulatedIds(counters: readonly string[]): bigint[] {
  const ids = idsOf(counters, PORTS)
  for (const id of ids) sampleColumn(id)
  return ids
}

/**
 * How the value of a data ID is computed.
 *
 * @throws SondeError `SIM_COUNTER` if simulated NICs lack the counter.
 */
export function sampleColumn(id: bigint): DiagColumn {
  const { counter, labels } = placedCounter(id)
  const port = Number(labels.port ?? PORTS)
  const column = counter && diagColumn(counter.type, counter.field, Number(labels.priority ?? 0))
  if (counter === undefined || column === undefined || port > PORTS) {
    const allowed = 'names of the README of doca-telemetry-diag, and their data IDs of port 0'
    throw new SondeError('SIM_COUNTER', `no simulated NIC has the counter ${idText(id)}; allowed: ${allowed}`)
  }
  const { isNs = false, extreme } = counter
  if (extreme === 'max') return { kind: 'read_latency_max' }
  if (typeof column === 'number') return { kind: 'constant', value: Math.round(isNs ? column * NS_PER_S : column) }
  const terms = termsOf(column)
  const [number, factor] = terms[0] ?? [0, 0]
  if (isNs) return { kind: 'time', number, nsPerS: factor * NS_PER_S }
  return { kind: 'count', terms }
}

function termsOf(column: NonNullable<ReturnType<typeof diagColumn>>): Term[] {
  if (typeof column === 'string') return [[COUNTERS[column], 1]]
  // Only the longest read is a function, and no diagnostic counter is a histogram.
  return Object.entries(column as Readonly<Partial<Record<Counter, number>>>).map(([counter, factor]) => {
    return [COUNTERS[counter as Counter], factor]
  })
}
