import { constantLabelText } from '../../schema/constant-labels.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { metricsOf } from './families.ts'
import { Quota, type QuotaHolder } from './quota.ts'

/** Limits of a table. */
export interface TableLimits {
  /** Rows of this table at most. */
  readonly rows: number
  /** Lines of all tables. */
  readonly lines: Quota
}

/**
 * A line counts once for each of these, its part of the record included: few lines of long labels take as much as many
 * of short ones. Unit: bytes.
 */
const LINE_BYTES = 256

/** The room that rows of one type take of the limits: how many rows they are, and as how many lines they count. */
export class RowRoom {
  readonly #type: RecordType
  readonly #rows: Quota
  readonly #lines: Quota
  /** Weights of the rows of each holder: as how many lines each of their lines counts. */
  readonly #weights = new Quota(Number.POSITIVE_INFINITY)
  /** Length of the longest name of a metric with its constant labels. Unit: characters. */
  readonly #nameCharacters: number
  /** Lines that one row gives when all its values are there. */
  linesPerRow = 0

  constructor(type: RecordType, { rows, lines }: TableLimits) {
    this.#type = type
    this.#rows = new Quota(rows)
    this.#lines = lines
    const metrics = metricsOf(type).map(({ metric, slots: [{ field }] }) => `${metric}${constantLabelText(field)}`)
    this.#nameCharacters = Math.max(0, ...metrics.map(({ length }) => length))
  }

  /** Rows that a holder may still have; at most 0 if it is none. */
  rowsFor(holder: QuotaHolder): number {
    return this.#rows.roomFor(holder)
  }

  /** Lines that a holder may still have. */
  linesFor(holder: QuotaHolder): number {
    return this.#lines.roomFor(holder)
  }

  /** Gives every row more lines, or fewer. */
  addLines(perRow: number): void {
    const before = this.#linesCounted
    this.linesPerRow += perRow
    const more = this.#linesCounted - before
    for (const [holder, weight] of this.#weights.held) this.#lines.add(holder, weight * more)
  }

  /** The weight of a row with labels of this text. */
  weightOf(labels: string): number {
    // A record is kept twice.
    const recordBytes = (2 * this.#type.layout.recordBytes) / this.#linesCounted
    return Math.ceil((this.#nameCharacters + Buffer.byteLength(labels) + recordBytes) / LINE_BYTES)
  }

  /** Lines that a row of a weight counts as. */
  linesOf(weight: number): number {
    return weight * this.#linesCounted
  }

  /** Counts a row of a holder that comes, or leaves. */
  addRow(holder: QuotaHolder, weight: number, sign: 1 | -1): void {
    this.#rows.add(holder, sign)
    this.reweigh(holder, sign * weight)
  }

  /** Counts that a row weighs more now, or less. */
  reweigh(holder: QuotaHolder, more: number): void {
    this.#weights.add(holder, more)
    this.#lines.add(holder, this.linesOf(more))
  }

  /** A row counts as one line where all its metrics are refused. */
  get #linesCounted(): number {
    return Math.max(1, this.linesPerRow)
  }
}
