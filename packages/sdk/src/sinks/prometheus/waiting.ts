import type { Batch, SourceInfo } from '../../schema/batch.ts'

/** Memory for batches that wait. Unit: bytes. Policy: `drop_newest`, counted as `waiting_limit`. */
const WAITING_LIMIT_BYTES = 16 << 20

/** Batches that wait for a later turn of the event loop, since they bring many new series. Those of one source stay in order. */
export class Waiting {
  #batches: Batch[] = []
  #bytes = 0
  /** How many of them each source has. */
  readonly #counts = new Map<SourceInfo, number>()

  /** Whether batches of a source wait: later ones wait behind them. */
  has(source: SourceInfo): boolean {
    return this.#counts.has(source)
  }

  /** Takes a copy. False where there is no room for it. */
  add(batch: Batch): boolean {
    if (this.#bytes + batch.bytes.length > WAITING_LIMIT_BYTES) return false
    this.#batches.push({ ...batch, bytes: new Uint8Array(batch.bytes) })
    this.#count(batch, 1)
    return true
  }

  /** The first batch. It counts as waiting until `replaceFirst`. */
  get first(): Batch | undefined {
    return this.#batches[0]
  }

  /** Puts what is left of the first batch in its place, if anything is. */
  replaceFirst(rest: Batch | undefined): void {
    const first = rest === undefined ? this.#batches.shift() : this.#batches.splice(0, 1, rest)[0]
    if (first !== undefined) this.#count(first, -1)
    if (rest !== undefined) this.#count(rest, 1)
  }

  /** Takes the batches of a source out, or all of them. Gives the number of their records. */
  remove(source?: SourceInfo): number {
    const leaves = (batch: Batch) => source === undefined || batch.source === source
    const left = this.#batches.filter(leaves)
    this.#batches = this.#batches.filter((batch) => !leaves(batch))
    for (const batch of left) this.#count(batch, -1)
    return left.reduce((records, { count }) => records + count, 0)
  }

  #count({ source, bytes }: Batch, sign: 1 | -1): void {
    this.#bytes += sign * bytes.length
    const count = (this.#counts.get(source) ?? 0) + sign
    if (count === 0) this.#counts.delete(source)
    else this.#counts.set(source, count)
  }
}
