import type { Columns } from '../../api/query-client.ts'
import type { MetricQuery } from '../../api/types.ts'
import type { GridChart } from '../../chart/chart-grid.tsx'
import type { ChartMark, ChartSpec } from '../../chart/chart-spec.ts'
import { countOf } from '../../format/number.ts'
import { PAUSE_SHARE, PERCENT } from '../../format/quantity.ts'
import { newestValue } from '../interface-data.ts'
import { type PortRow, siblingGroups } from './port-data.ts'
import { PORT_SECTIONS, PORT_SIGNALS, type PortSignalInfo } from './port-signals.ts'

/** Charts under one title. */
export interface PortSection {
  readonly title: string
  /** How many of the ports are drawn, where it is not all. */
  readonly note: string
  readonly charts: readonly GridChart[]
}

/** One chart a signal, one member a port: the largest group of siblings. Signals that no port has are left out. */
export function portSections(
  rows: readonly PortRow[],
  answerOf: (query: MetricQuery) => Columns,
  marks: readonly ChartMark[],
): PortSection[] {
  const siblings = siblingGroups(rows)[0] ?? []
  const rates = new Set(siblings.map(({ columns }) => newestValue(columns.lineRate)).filter((rate) => rate > 0))
  const limits = rates.size === 1 ? [{ value: [...rates][0]!, label: 'link' }] : []
  const note =
    siblings.length < rows.length ? `${siblings.length} of ${countOf(rows.length, 'port')}, those that are alike` : ''
  return PORT_SECTIONS.map(({ title, signals }) => ({
    title,
    note,
    charts: signals.flatMap((signal): GridChart[] => {
      const { query, ...info }: PortSignalInfo = PORT_SIGNALS[signal]
      const members = siblings.flatMap(({ label, columns }) => {
        const values = columns[signal]
        return values ? [{ key: label, label, values }] : []
      })
      if (members.length === 0) return []
      const answer = answerOf(query)
      const spec: ChartSpec = {
        ...info,
        id: signal,
        // A share has natural ends; what is a hundredth of it is no news.
        ...(info.quantity === PERCENT || info.quantity === PAUSE_SHARE ? { scale: 'percent' as const } : {}),
        members,
        marks,
        noun: ['port', 'ports'],
        slots: [1, 3, 4],
        limits: signal === 'sent' || signal === 'received' ? limits : [],
        provenance: `${query.function === 'rate' ? 'rate' : 'last value'} of {step} · ${answer.result(query)?.meta.clock ?? 'wall'} clock`,
      }
      return [{ spec, answer }]
    }),
  })).filter(({ charts }) => charts.length > 0)
}
