import { conflictWords } from '../prometheus/drop-causes.ts'
import { MetricNames } from '../prometheus/metric-names.ts'
import type { SentColumn, SentMetrics } from './sent-metrics.ts'
import type { SentRow } from './sent-row.ts'

/** Why a record is not sent in full. */
export type Shortened = 'name' | 'series'

/**
 * Which metrics of a row are sent, by the rules of `/metrics`. A metric name belongs to the first type that has it; a
 * type with another kind, unit or form does not send its metric. If several types fill a metric, the earliest row of
 * each series is sent.
 */
export class SentNames {
  readonly #names = new MetricNames<SentColumn>((table, family, slots) =>
    (table as SentMetrics).columnOf(family, slots),
  )
  readonly #find: (type: string, labels: string) => SentRow | undefined
  #born = 0

  /** @param find Finds a row by the name of its type and the text of its labels. */
  constructor(find: (type: string, labels: string) => SentRow | undefined) {
    this.#find = find
  }

  /** A row comes; `isOwn`: from a source of this process. */
  enter(row: SentRow, isOwn: boolean): void {
    const { columns } = row
    row.born = ++this.#born
    if (columns.rowCount++ === 0) {
      columns.isOwn = isOwn
      this.#names.enter(columns)
    } else if (isOwn && !columns.isOwn) this.#names.makeOwn(columns)
  }

  /** A row is gone: rows of other types may have its series. */
  leave(row: SentRow): void {
    const { columns } = row
    for (const { row: other } of this.#alike(row)) {
      other.decided = -1
      // The series goes on behind its newest sample.
      other.lastMs = Math.max(other.lastMs, row.lastMs)
    }
    if (--columns.rowCount > 0) return
    // All steps of it: the number of types is limited.
    for (const _ of this.#names.leave([columns]));
    for (const column of columns.columns) columns.remove(column)
  }

  /** Undefined if a record of a row is sent in full. Decides which of its series are sent. */
  shortened(row: SentRow): Shortened | undefined {
    if (row.decided !== row.columns.version) this.#decide(row)
    if (row.hidden !== undefined) return 'series'
    return row.columns.isWhole ? undefined : 'name'
  }

  /** Why the metrics of a type are not sent, in words. */
  wordsOf(columns: SentMetrics): string {
    const conflicts = this.#names.conflicts([columns])
    return conflicts.length === 0 ? 'another type has the name of a metric' : conflictWords(conflicts)
  }

  clear(): void {
    this.#names.clear()
  }

  #decide(row: SentRow): void {
    const hidden = new Set(
      [...this.#alike(row)].filter(({ row: other }) => other.born < row.born).map(({ sent }) => sent),
    )
    row.hidden = hidden.size === 0 ? undefined : hidden
    row.decided = row.columns.version
  }

  /** The rows of other types with a series of a row, and the metric of the row that it is of. */
  *#alike({ key, columns }: SentRow): Generator<{ readonly row: SentRow; readonly sent: SentColumn['sent'] }> {
    for (const { family, labels, sent } of columns.columns) {
      if (family.columns.length === 1) continue
      for (const other of family.columns) {
        if (other.table === columns || other.labels !== labels) continue
        const row = this.#find(other.table.type.name, key.slice(columns.type.name.length + 1, -1))
        if (row?.columns === other.table) yield { row, sent }
      }
    }
  }
}
