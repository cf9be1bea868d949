import { constantLabelText } from '../../schema/constant-labels.ts'
import { lanesOf } from '../../wire/prometheus/lanes.ts'
import { Lines, type TimeStyle } from '../../wire/prometheus/lines.ts'
import type { Family, MetricFields } from './families.ts'
import type { MetricTable } from './metric-table.ts'

/**
 * One metric of one type, with one set of constant labels: the lines of its rows, once for all formats or, with
 * timestamps, once for each format.
 */
export class MetricColumn {
  readonly table: MetricTable
  readonly family: Family<MetricColumn>
  readonly slots: MetricFields['slots']
  /** Constant labels of the fields as text; empty if they have none. */
  readonly labels: string
  /** Lines of a row whose values are all there. */
  readonly laneCount: number
  /** Lines of text 0.0.4. */
  readonly text: Lines
  /** Lines of OpenMetrics; the same object where no time is written. */
  readonly openmetrics: Lines
  /** The distinct ones of `text` and `openmetrics`. */
  readonly lines: readonly Lines[]

  constructor(table: MetricTable, family: Family<MetricColumn>, slots: MetricFields['slots'], timestamps: boolean) {
    this.table = table
    this.family = family
    this.slots = slots
    this.labels = constantLabelText(slots[0].field)
    const lanes = lanesOf(table.type, family.name, slots)
    this.laneCount = lanes.lanes.length
    const linesOf = (time: TimeStyle) => new Lines(lanes, time)
    this.text = linesOf(timestamps ? 'milliseconds' : 'none')
    this.openmetrics = timestamps ? linesOf('seconds') : this.text
    this.lines = timestamps ? [this.text, this.openmetrics] : [this.text]
  }

  /**
   * Leaves those rows out that are 1, because another type of the family shows them already. Returns how many were
   * shown until now.
   */
  hide(hidden: Uint8Array<ArrayBuffer>): number {
    const { covered } = this.table.rows
    const before = this.text.hidden
    let newly = 0
    for (const lines of this.lines) lines.hidden = hidden
    for (let row = 0; row < Math.max(before.length, hidden.length); row++) {
      const isHidden = hidden[row] === 1
      if (isHidden === (before[row] === 1)) continue
      if (isHidden) {
        covered[row]!++
        newly++
      } else if (covered[row]! > 0) covered[row]!--
      for (const lines of this.lines) lines.invalidate(row)
    }
    return newly
  }
}
