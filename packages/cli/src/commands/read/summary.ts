import { printable } from '@sonde/sdk/internal'
import { lineOf, type TextColumn, widthsOf } from './columns.ts'
import { csvCell } from './csv.ts'
import type { FormatName } from './options.ts'

/** A line of a summary, with the same keys in each line. Unknown values are left out. */
export type SummaryRow = Readonly<Record<string, string | number | object | undefined>>

/** Writes rows in the format of the records. Lists become counts if the format has no lists. */
export function summaryText(rows: readonly SummaryRow[], format: FormatName): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const titles = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => titles.map((title) => cellOf(row[title])))
  if (format === 'csv') {
    // Numbers stay as they are: a text that begins with a minus would count as a formula.
    const cell = (value: SummaryRow[string]) => (typeof value === 'number' ? String(value) : csvCell(cellOf(value)))
    const lines = rows.map((row) => titles.map((title) => cell(row[title])))
    return [titles.map(csvCell), ...lines].map((line) => `${line.join(',')}\n`).join('')
  }
  const columns = titles.map((title): TextColumn => ({ title, isNumber: typeof rows[0]?.[title] === 'number' }))
  const printed = cells.map((row) => row.map(printable))
  const widths = widthsOf(columns, printed)
  // The last column keeps its width, because it holds paths and sentences.
  widths[widths.length - 1] = Number.POSITIVE_INFINITY
  const width = (row: readonly string[]) => [...widths.slice(0, -1), row.at(-1)?.length ?? 0]
  return [titles, ...printed].map((row) => `${lineOf(columns, width(row), row)}\n`).join('')
}

function cellOf(value: SummaryRow[string]): string {
  if (Array.isArray(value)) return String(value.length)
  return value === undefined ? '-' : String(value)
}
