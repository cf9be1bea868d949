import { SondeError, shown } from '../errors.ts'
import { sumSlotOf } from '../schema/histogram.ts'
import type { Slot } from '../schema/layout.ts'
import { type CounterHandle, handleOf, markPresent, type Presence, presenceOf } from './handles.ts'
import type { Row } from './table.ts'

/** Counts observations into the bins of one histogram. */
export interface HistogramHandle {
  /**
   * Counts a value in the first bin whose upper edge is not below it. Adds it to the field `<field>_sum` if the type
   * has such a field; a u64 sum is exact.
   *
   * @throws SondeError `SRC_VALUE` if the value is not finite, or does not fit the sum: a sum accepts no negative
   * value, and a u64 sum only whole values.
   */
  observe(value: number): void
}

/** The handle of a field with role `bucket`. */
export function histogramOf(row: Row, slot: Slot): HistogramHandle {
  const sum = sumSlotOf(row.table.type, slot)
  return new BucketHandle(row, slot, sum === undefined ? undefined : handleOf(row, sum))
}

class BucketHandle implements HistogramHandle {
  readonly #row: Row
  readonly #slot: Slot
  readonly #edges: Float64Array
  readonly #sum: CounterHandle | undefined
  readonly #present: Presence
  /** Words a bin: 2 for u64, 1 for u32. */
  readonly #words: number

  constructor(row: Row, slot: Slot, sum: CounterHandle | undefined) {
    this.#row = row
    this.#slot = slot
    this.#edges = Float64Array.from(slot.field.edges ?? [])
    this.#sum = sum
    this.#present = presenceOf(slot)
    this.#words = slot.field.kind === 'u64' ? 2 : 1
  }

  observe(value: number): void {
    if (typeof value !== 'number' || value - value !== 0) this.#refuse(value)
    // First, because the sum may refuse the value.
    if (this.#sum !== undefined) this.#sum.add(value)
    const { base, table } = this.#row
    if (base < 0) return
    const { u32 } = table.views
    const at = ((base + this.#slot.offset) >> 2) + binOf(this.#edges, value) * this.#words
    const low = ((u32[at] ?? 0) + 1) >>> 0
    u32[at] = low
    if (low === 0 && this.#words === 2) u32[at + 1] = (u32[at + 1] ?? 0) + 1
    if (this.#present !== undefined) markPresent(u32, base, this.#present)
  }

  #refuse(value: unknown): never {
    throw new SondeError(
      'SRC_VALUE',
      `${this.#row.placeOf(this.#slot.name)} was given ${shown(value)}; allowed: a finite number`,
    )
  }
}

/** The first bin whose upper edge is not below the value; else the last bin, which has no upper edge. */
function binOf(edges: Float64Array, value: number): number {
  let low = 0
  let high = edges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value <= (edges[middle] ?? 0)) high = middle
    else low = middle + 1
  }
  return low
}
