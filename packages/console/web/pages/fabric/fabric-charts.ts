import type { ChartSpec } from '../../chart/chart-spec.ts'
import type { InterfaceColumns } from '../../devices/interface-data.ts'
import { BITS_PER_SECOND, type DisplayQuantity, PER_SECOND } from '../../format/quantity.ts'
import { chooseInterfaces, interfaceMembers } from '../interface-charts.ts'

interface Panel {
  readonly id: string
  readonly title: string
  readonly quantity: DisplayQuantity
  readonly caption?: string
  readonly values: (row: InterfaceColumns) => Float64Array | undefined
}

const PANELS: readonly Panel[] = [
  { id: 'received', title: 'Received', quantity: BITS_PER_SECOND, values: ({ columns }) => columns.received },
  { id: 'sent', title: 'Sent', quantity: BITS_PER_SECOND, values: ({ columns }) => columns.sent },
  { id: 'packets-in', title: 'Packets received', quantity: PER_SECOND, values: ({ columns }) => columns.packetsIn },
  { id: 'packets-out', title: 'Packets sent', quantity: PER_SECOND, values: ({ columns }) => columns.packetsOut },
  { id: 'errors', title: 'Errors', quantity: PER_SECOND, caption: 'both directions', values: ({ errors }) => errors },
  { id: 'drops', title: 'Drops', quantity: PER_SECOND, caption: 'both directions', values: ({ drops }) => drops },
]

/** One chart per signal, one member per interface. */
export function fabricCharts(all: readonly InterfaceColumns[]): ChartSpec[] {
  const { common, rows } = chooseInterfaces(all)
  return PANELS.map(({ values, caption, ...panel }) => ({
    ...common,
    ...panel,
    caption: [caption, common.caption].filter(Boolean).join(' · '),
    members: interfaceMembers(rows, values),
  }))
}
