import { useMemo, useState } from 'react'
import { TableBox } from '../components/table-box.tsx'
import { formatIn } from '../format/number.ts'
import { formatDateTime, zoneName } from '../format/time.ts'
import type { ChartModel } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'

const ROW_PX = 24
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
  const [scrolledPx, setScrolledPx] = useState(0)
  const positions = useMemo(() => {
    const inside: number[] = []
    for (let i = times.length - 1; i >= 0; i--) if (times[i]! >= fromMs && times[i]! <= toMs) inside.push(i)
    return inside
  }, [times, fromMs, toMs])
  const members = spec.members.slice(0, COLUMN_LIMIT_COUNT)
  const first = Math.max(0, Math.floor(scrolledPx / ROW_PX) - 4)
  const last = Math.min(positions.length, first + Math.ceil(heightPx / ROW_PX) + 8)
  return (
    <TableBox label={`${spec.title} as a table`} heightPx={heightPx} onScroll={setScrolledPx}>
      {/* The rows that are not drawn leave their room above and below. */}
      <div style={{ paddingTop: first * ROW_PX, paddingBottom: (positions.length - last) * ROW_PX }}>
        <table className="table is-compact has-first-fixed" aria-rowcount={positions.length + 1}>
          <thead>
            <tr>
              <th scope="col">Time, {zoneName(zone, toMs)}</th>
              {members.map((member) => (
                <th key={member.key} scope="col" className="is-number">
                  {member.label} {model.unit.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {positions.slice(first, last).map((position, order) => (
              <tr key={position} aria-rowindex={first + order + 2}>
                <th scope="row" className="num">
                  {formatDateTime(times[position]!, zone, stepMs % 1000 === 0 ? 'seconds' : 'milliseconds')}
                </th>
                {members.map((member) => (
                  <td key={member.key} className="is-number num">
                    {formatIn(model.unit, member.values[position] ?? Number.NaN)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </TableBox>
  )
}
