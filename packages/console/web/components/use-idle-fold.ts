import { countText } from '../format/number.ts'
import { usePageState } from '../state/time-window.ts'
import type { IdleFold } from './idle-fold.tsx'
import { splitIdle } from './sickness.ts'

/** The things of a list that are shown, and the idle things that are folded, or follow; `fold` is absent if none is. */
export interface FoldedList<Row> {
  readonly rows: readonly Row[]
  readonly fold?: IdleFold<Row>
}

/** Folds the idle things of a long list, unless the address says that they are shown. */
export function useIdleFold<Row>(
  all: readonly Row[],
  isIdle: (row: Row) => boolean,
  [one, many]: readonly [one: string, many: string],
): FoldedList<Row> {
  const page = usePageState()
  const { busy, idle } = splitIdle(all, isIdle)
  if (idle.length === 0) return { rows: busy }
  const isOpen = page.url.idle === 'shown'
  const fold: IdleFold<Row> = {
    rows: idle,
    words: countText(idle.length, `idle ${one}`, `idle ${many}`),
    isOpen,
    toggle: () => page.change({ idle: isOpen ? undefined : 'shown' }, 'replace'),
  }
  return { rows: isOpen ? [...busy, ...idle] : busy, fold }
}
