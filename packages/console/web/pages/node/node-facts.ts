import type { SampleGrid } from '../../api/sample-grid.ts'
import type { HostColumns } from '../host-data.ts'
import { type InterfaceColumns, largestOfLast, newestValue } from '../interface-data.ts'
import type { InterfaceFact, NodeFacts } from './headline.ts'

/** Samples over which something counts as happening now. */
const NOW_COUNT = 10

/** Makes the facts of the headline from the recent samples. */
export function nodeFacts(
  grid: SampleGrid | undefined,
  interfaces: readonly InterfaceColumns[],
  host: HostColumns,
): NodeFacts {
  const stepMs = grid?.stepMs ?? 1000
  // The loopback sends to itself: it would be counted twice in a sum of traffic.
  const outside = interfaces.filter(({ device }) => device !== 'lo')
  const total = newestValue(host.memoryTotal)
  return {
    interfaces: interfaces.map((row) => interfaceFact(row, stepMs)),
    received: sumNewest(outside.map(({ columns }) => columns.received)),
    sent: sumNewest(outside.map(({ columns }) => columns.sent)),
    busy: newestValue(host.busyMean),
    memoryAvailable: newestValue(host.memoryAvailable) / total,
    pressure: host.pressure.map(({ name, values }) => ({ name, share: meanOfLast(values, NOW_COUNT) })),
  }
}

function interfaceFact(row: InterfaceColumns, stepMs: number): InterfaceFact {
  const up = newestValue(row.columns.up)
  return {
    device: row.device,
    isUp: Number.isNaN(up) ? undefined : up > 0,
    downForMs: downFor(row.columns.up, stepMs),
    errors: largestOfLast(row.errors, NOW_COUNT),
    drops: largestOfLast(row.drops, NOW_COUNT),
    movingForMs: Math.max(movingFor(row.errors, stepMs), movingFor(row.drops, stepMs)),
  }
}

/** How long an interface that was up in the window has been down; undefined where it is up or never was. */
export function downFor(up: Float64Array | undefined, stepMs: number): number | undefined {
  if (!up) return undefined
  let down = 0
  for (let i = up.length - 1; i >= 0; i--) {
    if (Number.isNaN(up[i]!)) {
      if (down > 0) down++
    } else if (up[i]! > 0) return down > 0 ? down * stepMs : undefined
    else down++
  }
  return undefined
}

/** How long a counter has been rising, with pauses of at most ten samples. */
export function movingFor(rates: Float64Array, stepMs: number): number {
  let first = rates.length
  let pause = 0
  for (let i = rates.length - 1; i >= 0 && pause <= NOW_COUNT; i--) {
    if (rates[i]! > 0) {
      first = i
      pause = 0
    } else pause++
  }
  return (rates.length - first) * stepMs
}

function meanOfLast(values: Float64Array, within: number): number {
  const recent = values.slice(-within).filter((value) => !Number.isNaN(value))
  return recent.length === 0 ? Number.NaN : recent.reduce((sum, value) => sum + value, 0) / recent.length
}

function sumNewest(columns: readonly (Float64Array | undefined)[]): number {
  const values = columns.map((values) => newestValue(values)).filter((value) => !Number.isNaN(value))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
