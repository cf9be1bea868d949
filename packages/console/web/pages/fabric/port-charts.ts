import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import type { GridChart } from '../../chart/chart-grid.tsx'
import type { ChartMark, ChartSpec } from '../../chart/chart-spec.ts'
import type { ScaledSpec } from '../../chart/value-axis.ts'
import { newestValue } from '../../devices/interface-data.ts'
import { countText } from '../../format/number.ts'
import { boundedColumn, PAUSE_SHARE, PERCENT } from '../../format/quantity.ts'
import { type PortRow, siblingGroups } from './port-data.ts'
import { PORT_SECTIONS, PORT_SIGNALS, type PortSignal, type PortSignalInfo } from './port-signals.ts'

/** Charts under one title. */
export interface PortSection {
  readonly title: string
  /** How many ports are drawn, unless all are. */
  readonly note: string
  readonly charts: readonly GridChart[]
}

/** One chart per signal with the largest group of sibling ports. Signals that no port has are left out. */
export function portSections(
  rows: readonly PortRow[],
  answerOf: (query: MetricQuery) => QueryColumns,
  marks: readonly ChartMark[],
): PortSection[] {
  const siblings = siblingGroups(rows)[0] ?? []
  const note =
    siblings.length < rows.length
      ? `${siblings.length} of ${countText(rows.length, 'port')}, the largest group of like ports`
      : ''
  return PORT_SECTIONS.map(({ title, signals }) => ({
    title,
    note,
    charts: signals.flatMap((signal): GridChart[] => {
      const { query, ...info }: PortSignalInfo = PORT_SIGNALS[signal]
      const scaled = scaledSpec(signal, siblings)
      if (scaled.members.length === 0) return []
      const answer = answerOf(query)
      const spec: ChartSpec = {
        ...info,
        ...scaled,
        id: signal,
        marks,
        noun: ['port', 'ports'],
        slots: [1, 3, 4],
        provenance: `${query.function === 'rate' ? 'rate' : 'last value'} of {step} · ${answer.result(query)?.meta.clock ?? 'wall'} clock`,
      }
      return [{ spec, answer }]
    }),
  })).filter(({ charts }) => charts.length > 0)
}

/** The chart of siblings in a signal, with its scale. The table uses the same scale to highlight outliers. */
export function scaledSpec(signal: PortSignal, siblings: readonly PortRow[]): ScaledSpec {
  const { quantity }: PortSignalInfo = PORT_SIGNALS[signal]
  const rates = new Set(siblings.map(({ columns }) => newestValue(columns.lineRate)).filter((rate) => rate > 0))
  const isTraffic = signal === 'sent' || signal === 'received'
  return {
    quantity,
    // Percentages have natural limits, and a difference of one percent does not matter.
    ...(quantity === PERCENT || quantity === PAUSE_SHARE ? { scale: 'percent' } : {}),
    members: siblings.flatMap(({ label, columns }) => {
      const values = columns[signal]
      return values ? [{ key: label, label, values: boundedColumn(quantity, values) }] : []
    }),
    limits: isTraffic && rates.size === 1 ? [{ value: [...rates][0]!, label: 'link' }] : [],
  }
}
