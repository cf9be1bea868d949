import { turn } from '../../internal/turn.ts'
import { headerText } from '../../wire/prometheus/header.ts'
import { hideDuplicates } from './duplicates.ts'
import { Exposition, type FamilyPart, type FamilyText } from './exposition.ts'
import type { Family } from './families.ts'
import type { MetricColumn } from './metric-column.ts'
import type { MetricTable } from './metric-table.ts'
import type { Tables } from './tables.ts'

/** A table as it is at one moment, and the rows that changed since the last. */
interface TableThen {
  readonly table: MetricTable
  readonly columns: readonly MetricColumn[]
  readonly changed: Int32Array
  readonly rowCount: number
}

/** A family as it is at one moment. */
interface FamilyThen {
  readonly family: Family<MetricColumn>
  readonly columns: readonly MetricColumn[]
  readonly isBaseTaken: boolean
}

/** The input of a collect. It is fixed in one turn, so that records between its steps do not tear a family. */
export interface Moment {
  readonly tables: readonly TableThen[]
  readonly families: readonly FamilyThen[]
}

/** The result of a collect. */
export interface Rendered {
  readonly exposition: Exposition
  /** Rows that are left out from now on, because another type shows their series. */
  readonly hiddenCount: number
}

const ROWS_A_STEP = 1024

/** Fixes rows and columns as they are now, without a walk through rows. */
export function takeMoment(tables: Tables): Moment {
  return {
    tables: Array.from(tables.all(), (table) => {
      return { table, columns: table.columns, changed: table.begin(), rowCount: table.rows.high }
    }),
    families: Array.from(tables.families.all(), (family) => {
      return { family, columns: family.columns, isBaseTaken: tables.families.isBaseTaken(family) }
    }),
  }
}

/** Brings the text of a moment up to date, in as many turns of the event loop as it takes. */
export async function renderMoment({ tables, families }: Moment): Promise<Rendered> {
  for (const { table } of tables) {
    do if (turn.isOver()) await turn.next()
    while (!table.rows.fix())
  }
  let hiddenCount = 0
  for (const { family, columns } of families) {
    if (turn.isOver()) await turn.next()
    hiddenCount += await hideDuplicates(family, columns)
  }
  for (const { columns, changed, rowCount } of tables) {
    for (const column of columns) await renderColumn(column, changed, rowCount)
  }
  const texts: FamilyText[] = []
  for (const { family, columns, isBaseTaken } of families) {
    if (turn.isOver()) await turn.next()
    if (columns.every(({ text }) => text.lineCount === 0)) continue
    texts.push({ header: headerOf(family, isBaseTaken), parts: columns.map(partOf) })
  }
  return { exposition: new Exposition(texts), hiddenCount }
}

async function renderColumn(
  { table, lines, laneCount }: MetricColumn,
  changed: Int32Array,
  rowCount: number,
): Promise<void> {
  const step = Math.max(1, Math.floor(ROWS_A_STEP / laneCount))
  for (const one of lines) {
    if (turn.isOver()) await turn.next()
    one.reserve(rowCount)
    for (let from = 0; from < changed.length; ) {
      from = one.patch(table.rows.shown, changed, from, Math.min(from + step, changed.length))
      if (turn.isOver()) await turn.next()
    }
    for (let page = 0; page < one.pageCount; page++) {
      if (!one.isStale(page)) continue
      for (const _ of one.settle(table.rows.shown, page, rowCount)) if (turn.isOver()) await turn.next()
    }
  }
}

function headerOf(family: Family<MetricColumn>, isBaseTaken: boolean): FamilyText['header'] {
  return {
    text: headerText(family, family.help, 'text', isBaseTaken),
    openmetrics: headerText(family, family.help, 'openmetrics', isBaseTaken),
  }
}

function partOf({ table, slots, text, openmetrics }: MetricColumn): FamilyPart {
  const pages = text.lend()
  return {
    type: table.type,
    slots,
    pages: { text: pages, openmetrics: openmetrics === text ? pages : openmetrics.lend() },
  }
}
