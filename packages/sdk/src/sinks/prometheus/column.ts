import type { Slot } from '../../schema/layout.ts'
import { lanesOf } from '../../wire/prometheus/lanes.ts'
import { Lines, type TimeStyle } from '../../wire/prometheus/lines.ts'
import type { Family } from './families.ts'
import type { Table } from './table.ts'

/** One metric of one type: the lines that its rows give, once for all formats or, with timestamps, once for each. */
export class Column {
  readonly table: Table
  readonly family: Family
  readonly slots: readonly Slot[]
  /** Lines of a row whose values are all there. */
  readonly laneCount: number
  /** Lines of text 0.0.4. */
  readonly text: Lines
  /** Lines of OpenMetrics; the same object where no time is written. */
  readonly openmetrics: Lines
  /** The distinct ones of `text` and `openmetrics`. */
  readonly lines: readonly Lines[]

  constructor(table: Table, family: Family, slots: readonly Slot[], timestamps: boolean) {
    this.table = table
    this.family = family
    this.slots = slots
    const lanes = lanesOf(table.type, family.name, slots)
    this.laneCount = lanes.lanes.length
    const linesOf = (time: TimeStyle) => new Lines(lanes, time)
    this.text = linesOf(timestamps ? 'milliseconds' : 'none')
    this.openmetrics = timestamps ? linesOf('seconds') : this.text
    this.lines = timestamps ? [this.text, this.openmetrics] : [this.text]
  }

  /** Leaves rows out that another type of the family shows already. Returns how many were shown until now. */
  hide(rows: ReadonlySet<number>): number {
    const { covered } = this.table.rows
    const before = this.text.hidden
    const [newly, again] = [rows.difference(before), before.difference(rows)]
    for (const row of newly) covered[row]!++
    for (const row of again) if (covered[row]! > 0) covered[row]!--
    for (const lines of this.lines) {
      lines.hidden = rows
      for (const row of newly) lines.invalidate(row)
      for (const row of again) lines.invalidate(row)
    }
    return newly.size
  }
}
