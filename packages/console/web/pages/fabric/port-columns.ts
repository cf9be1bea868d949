import { type DeviceReading, meanReading, type ReadSpan } from '../../devices/device-reading.ts'
import { sumColumns } from '../../devices/interface-data.ts'
import { bounded, type DisplayQuantity, PAUSE_SHARE, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import type { PortRow } from './port-data.ts'
import type { PortSignal } from './port-signals.ts'

/** A column of numbers in the table of ports. */
export interface PortTableColumn {
  /** Name of the sort in the address. */
  readonly key: string
  readonly head: string
  /** What the column counts, if the head is too short to say it. */
  readonly title?: string
  readonly quantity: DisplayQuantity
  /**
   * Signals of the column. The cell shows their sum, or the largest percentage, and is highlighted if one of them is an
   * outlier.
   */
  readonly signals: readonly PortSignal[]
  readonly read: (row: PortRow, span: ReadSpan) => DeviceReading
}

function column(
  key: string,
  head: string | readonly [head: string, title: string],
  quantity: DisplayQuantity,
  ...signals: readonly PortSignal[]
): PortTableColumn {
  const [text, title] = typeof head === 'string' ? [head] : head
  const isShare = quantity !== PER_SECOND
  return {
    key,
    head: text,
    ...(title === undefined ? {} : { title }),
    quantity,
    signals,
    read: ({ columns }, span) => {
      const own = signals.flatMap((signal) => columns[signal] ?? [])
      const length = Math.max(0, ...own.map((values) => values.length))
      const values = own.length < 2 ? own[0] : isShare ? largestColumn(own, length) : sumColumns(own, length)
      const { value, low, high } = meanReading(values, span)
      const cut = (end: number) => (isShare ? bounded(quantity, end) : end)
      return { value: cut(value), low: cut(low), high: cut(high) }
    },
  }
}

/** The largest value of the columns at each position; NaN if all are absent. */
function largestColumn(columns: readonly Float64Array[], length: number): Float64Array {
  return Float64Array.from({ length }, (_, at) => {
    const known = columns.map((values) => values[at]!).filter((value) => !Number.isNaN(value))
    return known.length === 0 ? Number.NaN : Math.max(...known)
  })
}

/** Columns after the traffic columns, in the order of {@link PORT_SECTIONS}. */
const PORT_COLUMNS: readonly PortTableColumn[] = [
  column('paused', 'Paused', PAUSE_SHARE, 'paused'),
  column('pausing', 'Pausing', PAUSE_SHARE, 'pausing'),
  column('marked', ['ECN', 'Packets that came with a congestion mark'], PER_SECOND, 'marked'),
  column('cnp', ['CNP', 'Congestion notifications handled: each slows what this port sends'], PER_SECOND, 'slowed'),
  column('sequence_errors', 'Seq. errors', PER_SECOND, 'sequenceErrors'),
  column('retransmissions', 'Retrans.', PER_SECOND, 'retransmissions'),
  column('timeouts', 'Timeouts', PER_SECOND, 'timeouts'),
  column(
    'discards',
    ['Discards', 'Packets dropped because no buffer or receive request was free'],
    PER_SECOND,
    'discards',
    'noBuffer',
  ),
  column(
    'errors',
    ['Errors', 'Symbol errors and checksum errors together'],
    PER_SECOND,
    'symbolErrors',
    'checksumErrors',
  ),
  column(
    'stalled',
    ['PCIe waits', 'Share of time that writes or reads over PCIe waited, the larger of both'],
    PERCENT,
    'stalledWrites',
    'stalledReads',
  ),
]

/** Columns in which any port has a value. */
export function columnsWithValues(rows: readonly PortRow[]): readonly PortTableColumn[] {
  return PORT_COLUMNS.filter(({ signals }) => rows.some(({ columns }) => signals.some((signal) => columns[signal])))
}

/**
 * How often the link went down in the window. Prefers the count of the adapter, because the other counter stops at 255.
 */
export function linkDownCount({ columns }: PortRow): number {
  const values = [...(columns.linkDowns ?? columns.portDowns ?? [])].filter((value) => !Number.isNaN(value))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
