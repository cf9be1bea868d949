import { useMemo } from 'react'
import { DataTable } from '../components/data-table.tsx'
import type { TableColumn } from '../components/table-column.ts'
import { formatIn } from '../format/number.ts'
import { formatDateTime, zoneName } from '../format/time.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'

/** Columns beyond these are left out of the table and named in its caption. */
const COLUMN_LIMIT_COUNT = 24

/** The same data as the drawing, newest first. Only the rows in view are in the document. */
export function ChartTable({
  spec,
  model,
  heightPx,
}: {
  readonly spec: ChartSpec
  readonly model: ChartModel
  readonly heightPx: number
}) {
  const { times, stepMs, fromMs, toMs, zone } = model.plot
  const positions = useMemo(() => {
    const inside: number[] = []
    for (let i = times.length - 1; i >= 0; i--) if (times[i]! >= fromMs && times[i]! <= toMs) inside.push(i)
    return inside
  }, [times, fromMs, toMs])
  const columns: readonly TableColumn<number>[] = [
    {
      key: 'time',
      head: `Time, ${zoneName(zone, toMs)}`,
      kind: 'rowHead',
      look: 'num',
      cell: (position) => formatDateTime(times[position]!, zone, stepMs % 1000 === 0 ? 'seconds' : 'milliseconds'),
    },
    ...spec.members.slice(0, COLUMN_LIMIT_COUNT).map(
      ({ key, label, values }): TableColumn<number> => ({
        key,
        head: `${label} ${model.unit.label}`,
        kind: 'number',
        cell: (position) => formatIn(model.unit, values[position] ?? Number.NaN),
      }),
    ),
  ]
  return (
    <DataTable
      label={`${spec.title} as a table`}
      look="is-compact has-first-fixed"
      columns={columns}
      rows={positions}
      keyOf={(position) => position}
      windowPx={heightPx}
    />
  )
}
