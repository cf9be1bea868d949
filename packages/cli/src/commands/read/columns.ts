/** A column of text for people. */
export interface TextColumn {
  readonly title: string
  /** Aligns cells to the right, so that digits stand below each other. */
  readonly isNumber: boolean
}

const CELL_CHARACTERS_LIMIT = 48
const GAP = '  '

/** Widths of columns that fit a title and some cells. */
export function widthsOf(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ title, isNumber }, i) => {
    const widest = Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0))
    return isNumber ? widest : Math.min(widest, Math.max(title.length, CELL_CHARACTERS_LIMIT))
  })
}

/** How many columns fit beside each other in a line; at least one. */
export function columnsWithin(widths: readonly number[], lineCharacters: number): number {
  let used = 0
  const over = widths.findIndex((width) => {
    used += width + GAP.length
    return used - GAP.length > lineCharacters
  })
  return over < 0 ? widths.length : Math.max(1, over)
}

/**
 * One line of cells. Text that is too long ends in `…`; a number is never cut, even if it is wider than its column.
 */
export function lineOf(columns: readonly TextColumn[], widths: readonly number[], cells: readonly string[]): string {
  return columns
    .map(({ isNumber }, i) => {
      const cell = cells[i] ?? ''
      const width = widths[i] ?? 0
      if (isNumber) return cell.padStart(width)
      return (cell.length > width ? `${cell.slice(0, Math.max(0, width - 1))}…` : cell).padEnd(width)
    })
    .join(GAP)
    .trimEnd()
}
