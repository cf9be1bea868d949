import type { Sort, SortKey } from './sort.ts'
import type { StateTone } from './state-mark.tsx'

/** Longer lists fold their idle rows, and their tables draw only the rows in view. */
export const LONG_COUNT = 24

/** The default order of things that have a state: the column of their states, the sickest first. */
export const SICKEST_FIRST: Sort = { column: 'state', direction: 'descending' }

const SICKNESS: Readonly<Record<StateTone, number>> = {
  critical: 5,
  warning: 4,
  denied: 4,
  stale: 3,
  info: 2,
  affected: 2,
  ok: 1,
  absent: 0,
}

/** The sort key of a thing by its state, and among equal states by its load. Default load: all things are alike. */
export function sicknessKey(tone: StateTone, load = 0): SortKey {
  return [SICKNESS[tone], Number.isNaN(load) ? 0 : load]
}

/** Whether a state asks for attention. Such a row is never folded. */
export function isSick(tone: StateTone): boolean {
  return SICKNESS[tone] > SICKNESS.ok
}

/** Splits a long list into the rows to show and the idle rows. A short list, or one that is all idle, is not split. */
export function splitIdle<Row>(
  rows: readonly Row[],
  isIdle: (row: Row) => boolean,
): { readonly busy: readonly Row[]; readonly idle: readonly Row[] } {
  if (rows.length <= LONG_COUNT) return { busy: rows, idle: [] }
  const { busy = [], idle = [] } = Object.groupBy(rows, (row) => (isIdle(row) ? 'idle' : 'busy'))
  return busy.length === 0 ? { busy: rows, idle: [] } : { busy, idle }
}
