import { turn } from '../../internal/turn.ts'
import { headerText } from '../../wire/prometheus/header.ts'
import type { Rows } from '../../wire/prometheus/lines.ts'
import type { Column } from './column.ts'
import { Exposition, type FamilyPart, type FamilyText } from './exposition.ts'
import type { Families, Family } from './families.ts'
import { type HelpNotes, withoutStop } from './help-notes.ts'
import type { Table } from './table.ts'

/** What one collect works on: fixed in one turn, so that nothing that comes between its steps tears a family. */
export interface Moment {
  /** Rows that are left out from now on, because another type shows their series. */
  readonly hiddenCount: number
  readonly changes: readonly {
    readonly columns: readonly Column[]
    readonly rows: Rows
    readonly changed: Int32Array
    readonly rowCount: number
  }[]
  readonly families: readonly {
    readonly header: FamilyText['header']
    readonly help: boolean
    readonly columns: readonly Column[]
  }[]
}

const ROWS_A_STEP = 1024

/** Fixes rows, columns and headers as they are now. */
export function takeMoment(tables: Iterable<Table>, families: Families, notes: HelpNotes): Moment {
  const changes = Array.from(tables, (table) => {
    const changed = table.snapshot()
    return { columns: [...table.columns], rows: table.shown, changed, rowCount: table.rows.high }
  })
  let hiddenCount = 0
  for (const family of families.all()) hiddenCount += hideDuplicates(family)
  const shown = Array.from(families.all(), (family) => {
    const note = notes.of(family)
    const help = note === '' ? family.help : `${withoutStop(family.help)}.${note}`
    const baseTaken = families.isBaseTaken(family)
    const header = {
      text: headerText(family, help, 'text', baseTaken),
      openmetrics: headerText(family, help, 'openmetrics', baseTaken),
    }
    return { header, help: note !== '', columns: [...family.columns] }
  })
  return { hiddenCount, changes, families: shown }
}

/** Brings the text of a moment up to date, in as many turns of the event loop as it takes. */
export async function renderMoment({ changes, families }: Moment): Promise<Exposition> {
  if (turn.isOver()) await turn.next()
  for (const { columns, rows, changed, rowCount } of changes) {
    if (changed.length === 0 && rowCount === 0) continue
    for (const column of columns) {
      for (const lines of column.lines) {
        const step = Math.max(1, Math.floor(ROWS_A_STEP / column.laneCount))
        for (let from = 0; from < changed.length; from += step) {
          lines.patch(rows, changed, from, Math.min(from + step, changed.length))
          if (turn.isOver()) await turn.next()
        }
        for (let page = 0; page < lines.pageCount; page++)
          if (lines.settle(rows, page, rowCount) && turn.isOver()) await turn.next()
      }
    }
  }
  const texts: FamilyText[] = []
  for (const { header, help, columns } of families) {
    if (!help && columns.every(({ text }) => text.lineCount === 0)) continue
    texts.push({ header, parts: columns.map(partOf) })
  }
  return new Exposition(texts)
}

function partOf({ table, slots, text, openmetrics }: Column): FamilyPart {
  const pages = text.lend()
  return {
    type: table.type,
    slots,
    pages: { text: pages, openmetrics: openmetrics === text ? pages : openmetrics.lend() },
  }
}

/** Where several types fill a family, the row that came first shows a series; the others are left out. Returns how many are left out anew. */
function hideDuplicates(family: Family): number {
  const { columns } = family
  let shapes = 0
  for (const { table } of columns) shapes += table.shape
  // Of the same columns, the sum rises whenever a row of any comes or goes.
  const basis = columns.length === 1 ? '' : `${family.changes} ${shapes}`
  if (basis === family.decided) return 0
  family.decided = basis
  const first = new Map<string, { column: Column; row: number; born: number }>()
  const hidden = new Map(columns.map((column) => [column, new Set<number>()]))
  for (const column of columns.length === 1 ? [] : columns) {
    for (const { row, text, born } of column.table.visible()) {
      const before = first.get(text)
      if (before !== undefined && before.born < born) {
        hidden.get(column)?.add(row)
        continue
      }
      if (before !== undefined) hidden.get(before.column)?.add(before.row)
      first.set(text, { column, row, born })
    }
  }
  let newly = 0
  for (const [column, rows] of hidden) newly += column.hide(rows)
  return newly
}
