import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { Quota } from './quota.ts'

/** Memory for batches that wait. Unit: bytes. Policy: `drop_newest`, counted as `waiting_limit`. */
const WAITING_LIMIT_BYTES = 16 << 20
/** What a batch takes beside its records. Unit: bytes. */
const BATCH_OVERHEAD_BYTES = 512

/** Batches that wait for a later turn of the event loop. Sources take turns; the batches of one source stay in order. */
export class Waiting {
  readonly #queues = new Map<SourceInfo, Batch[]>()
  readonly #quota = new Quota(WAITING_LIMIT_BYTES)

  /** Whether batches of a source wait: later ones wait behind them. */
  has(source: SourceInfo): boolean {
    return this.#queues.has(source)
  }

  /** Takes a copy. False where there is no room for it. */
  add(batch: Batch): boolean {
    if (sizeOf(batch) > this.#quota.roomFor(batch.page?.client)) return false
    const copy = { ...batch, bytes: new Uint8Array(batch.bytes) }
    const queue = this.#queues.get(batch.source)
    if (queue === undefined) this.#queues.set(batch.source, [copy])
    else queue.push(copy)
    this.#count(batch, 1)
    return true
  }

  /** The first batch of the source whose turn it is. It counts as waiting until `replaceFirst`. */
  get first(): Batch | undefined {
    for (const [first] of this.#queues.values()) return first
    return undefined
  }

  /** Puts what is left of the first batch in its place, if anything is. The next turn is that of another source. */
  replaceFirst(rest: Batch | undefined): void {
    for (const [source, queue] of this.#queues) {
      const first = queue.shift()
      if (first === undefined) return
      this.#count(first, -1)
      if (rest !== undefined) {
        queue.unshift(rest)
        this.#count(rest, 1)
      }
      this.#queues.delete(source)
      if (queue.length > 0) this.#queues.set(source, queue)
      return
    }
  }

  /** Takes the batches of a source out. Gives the number of their records. */
  remove(source: SourceInfo): number {
    let records = 0
    for (const batch of this.#queues.get(source) ?? []) {
      this.#count(batch, -1)
      records += batch.count
    }
    this.#queues.delete(source)
    return records
  }

  /** Takes all batches out. Gives the number of their records. */
  removeAll(): number {
    let records = 0
    for (const source of this.#queues.keys()) records += this.remove(source)
    return records
  }

  #count(batch: Batch, sign: 1 | -1): void {
    this.#quota.add(batch.page?.client, sign * sizeOf(batch))
  }
}

function sizeOf({ bytes }: Batch): number {
  return bytes.length + BATCH_OVERHEAD_BYTES
}
