import { keyOfText } from '../../internal/seeded-hash.ts'
import { turn } from '../../internal/turn.ts'
import { joinLabels } from '../../wire/prometheus/label-text.ts'
import type { Family } from './families.ts'
import type { MetricColumn } from './metric-column.ts'

/** Number of rows between two readings of the clock. */
const ROWS_A_STEP = 64

/** Which of several columns shows a series, until another is found that began earlier. */
interface First {
  readonly born: number
  readonly row: number
  readonly hidden: Uint8Array
}

/**
 * If several types fill a family, the earliest row of a series is shown and the others are left out. Compares the fixed
 * rows over several turns of the event loop. Returns the number of newly left-out rows.
 */
export async function hideDuplicates(family: Family<MetricColumn>, columns: readonly MetricColumn[]): Promise<number> {
  // Columns of one table differ in their constant labels, so they never hide a row.
  const isShared = columns.some(({ table }) => table !== columns[0]?.table)
  // Of the same columns, the sum rises whenever a row of any comes or goes.
  const shapes = !isShared ? 0 : columns.reduce((sum, { table }) => sum + table.rows.shape, 0)
  const { decided } = family
  if (decided?.columns === columns && decided.shapes === shapes) return 0
  family.decided = { columns, shapes }
  const first = new Map<string, First>()
  const all: [MetricColumn, Uint8Array<ArrayBuffer>][] = []
  for (const column of columns) {
    const hidden = new Uint8Array(isShared ? column.table.rows.high : 0)
    all.push([column, hidden])
    if (isShared) await findFirst(column, hidden, first)
  }
  let newly = 0
  for (const [column, hidden] of all) {
    if (turn.isOver()) await turn.next()
    newly += column.hide(hidden)
  }
  return newly
}

async function findFirst(column: MetricColumn, hidden: Uint8Array, first: Map<string, First>): Promise<void> {
  let seen = 0
  for (const { row, key: rowKey, born } of column.table.visible()) {
    const key =
      column.labels === '' ? rowKey : keyOfText(joinLabels(`${column.table.rows.shown.labels[row]}`, column.labels))
    if (seen++ % ROWS_A_STEP === 0 && turn.isOver()) await turn.next()
    const before = first.get(key)
    if (before !== undefined && before.born < born) {
      hidden[row] = 1
      continue
    }
    if (before !== undefined) before.hidden[before.row] = 1
    first.set(key, { born, row, hidden })
  }
}
