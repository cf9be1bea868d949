import { lastValue, newestReading, type ReadSpan } from '../../devices/device-reading.ts'
import type { InterfaceColumns } from '../../devices/interface-data.ts'
import { interfaceFact, type LiveDevices } from '../../devices/interface-facts.ts'
import { type HostColumns, NO_HOST } from '../host-data.ts'
import type { NodeFacts } from './headline.ts'

/**
 * Makes the facts of a headline from the newest samples or from a past window. For shortage and waiting, the window
 * counts with its worst moment. Without a host, covers only interfaces.
 */
export function nodeFacts(
  span: ReadSpan,
  interfaces: readonly InterfaceColumns[],
  { host = NO_HOST, live }: { readonly host?: HostColumns; readonly live?: LiveDevices } = {},
): NodeFacts {
  // The loopback sends to itself, so a sum would count its traffic twice.
  const outside = interfaces.filter(({ device }) => device !== 'lo')
  const total = lastValue(host.memoryTotal, span)
  const available = newestReading(host.memoryAvailable, span)
  return {
    interfaces: interfaces.map((row) => interfaceFact(row, span, live)),
    received: sumOf(
      outside.map(({ columns }) => columns.received),
      span,
    ),
    sent: sumOf(
      outside.map(({ columns }) => columns.sent),
      span,
    ),
    busy: newestReading(host.busyMean, span).value,
    memoryAvailable: (span.isNow ? available.value : available.low) / total,
    pressure: host.pressure.map(({ name, values }) => {
      const { value, high } = newestReading(values, span)
      return { name, share: span.isNow ? value : high }
    }),
    pressureSpanMs: host.pressureSpanMs,
  }
}

function sumOf(columns: readonly (Float64Array | undefined)[], span: ReadSpan): number {
  const values = columns.map((values) => newestReading(values, span).value).filter((value) => !Number.isNaN(value))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
