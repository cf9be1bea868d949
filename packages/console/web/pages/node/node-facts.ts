import type { SampleGrid } from '../../api/sample-grid.ts'
import { type InterfaceColumns, newestValue } from '../../devices/interface-data.ts'
import { interfaceFact, type LiveDevices } from '../../devices/interface-facts.ts'
import { type HostColumns, NO_HOST } from '../host-data.ts'
import type { NodeFacts } from './headline.ts'

/**
 * Makes the facts of a headline from the samples at the end of a window. Without a host it speaks of interfaces alone.
 */
export function nodeFacts(
  grid: SampleGrid | undefined,
  interfaces: readonly InterfaceColumns[],
  { host = NO_HOST, live }: { readonly host?: HostColumns; readonly live?: LiveDevices } = {},
): NodeFacts {
  const stepMs = grid?.stepMs ?? 1000
  // The loopback sends to itself: it would be counted twice in a sum of traffic.
  const outside = interfaces.filter(({ device }) => device !== 'lo')
  const total = newestValue(host.memoryTotal)
  return {
    interfaces: interfaces.map((row) => interfaceFact(row, stepMs, live)),
    received: sumNewest(outside.map(({ columns }) => columns.received)),
    sent: sumNewest(outside.map(({ columns }) => columns.sent)),
    busy: newestValue(host.busyMean),
    memoryAvailable: newestValue(host.memoryAvailable) / total,
    pressure: host.pressure.map(({ name, values }) => ({ name, share: newestValue(values) })),
    pressureSpanMs: host.pressureSpanMs,
  }
}

function sumNewest(columns: readonly (Float64Array | undefined)[]): number {
  const values = columns.map((values) => newestValue(values)).filter((value) => !Number.isNaN(value))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
