import { useRef } from 'react'

/** How long things keep their places while nothing but their loads changes, so that a row can be read. */
const KEPT_MS = 10_000

/** The places of things by their marks, and when they took them. */
export interface KeptOrder {
  readonly places: ReadonlyMap<string, number>
  /** Unit: milliseconds of any clock. */
  readonly atMs: number
}

/**
 * The sorted things in the order of before, while that is young and holds the same marks; else as they are sorted. A
 * mark names a thing and its state, so that a change of state shows at once.
 */
export function steadyOrder<Row>(
  sorted: readonly Row[],
  markOf: (row: Row) => string,
  nowMs: number,
  kept: KeptOrder | undefined,
): { readonly rows: readonly Row[]; readonly kept: KeptOrder } {
  const marks = sorted.map(markOf)
  const places = kept?.places
  const isSame = places !== undefined && places.size === marks.length && marks.every((mark) => places.has(mark))
  if (kept && isSame && nowMs - kept.atMs < KEPT_MS) {
    const rows = new Array<Row>(sorted.length)
    for (const [at, mark] of marks.entries()) rows[kept.places.get(mark)!] = sorted[at]!
    return { rows, kept }
  }
  return { rows: sorted, kept: { places: new Map(marks.map((mark, at) => [mark, at])), atMs: nowMs } }
}

/** Keeps the order of sorted things for a while. `order` names what they are sorted by; another order shows at once. */
export function useSteadyOrder<Row>(
  sorted: readonly Row[],
  markOf: (row: Row) => string,
  order: string,
): readonly Row[] {
  const last = useRef<{ readonly order: string; readonly kept: KeptOrder }>(undefined)
  const before = last.current?.order === order ? last.current.kept : undefined
  const { rows, kept } = steadyOrder(sorted, markOf, performance.now(), before)
  last.current = { order, kept }
  return rows
}
