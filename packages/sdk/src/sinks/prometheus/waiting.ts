import { type Batch, ownerOf, type SourceInfo } from '../../schema/batch.ts'
import { Quota } from './quota.ts'

/** Memory for batches that wait. Unit: bytes. Policy: `drop_newest`, counted as `waiting_limit`. */
const WAITING_LIMIT_BYTES = 16 << 20
/** Memory of a batch beside its records. Unit: bytes. */
const BATCH_OVERHEAD_BYTES = 512

/** A batch that waits, and when it came. */
export interface WaitingBatch {
  readonly batch: Batch
  /** Its place among everything that ever had to wait. */
  readonly order: number
  /** Unit: milliseconds. */
  readonly acceptedMs: number
}

/**
 * Batches that wait for a later turn of the event loop. Sources take turns; the batches of a source and its successor
 * stay in order.
 */
export class Waiting {
  readonly #queues = new Map<object, WaitingBatch[]>()
  readonly #quota = new Quota(WAITING_LIMIT_BYTES)

  /** Whether batches of a source wait: later ones wait behind them. */
  has(source: SourceInfo): boolean {
    return this.#queues.has(ownerOf(source))
  }

  /** Takes a copy. False if there is no room for it. */
  add({ batch, ...when }: WaitingBatch): boolean {
    if (sizeOf(batch) > this.#quota.roomFor(batch.page?.client)) return false
    const copy = { batch: { ...batch, bytes: new Uint8Array(batch.bytes) }, ...when }
    const queue = this.#queues.get(ownerOf(batch.source))
    if (queue === undefined) this.#queues.set(ownerOf(batch.source), [copy])
    else queue.push(copy)
    this.#count(batch, 1)
    return true
  }

  /**
   * The first batch of the next source, among entries up to a number. It counts as waiting until `replace`.
   */
  next(orderMax: number): WaitingBatch | undefined {
    for (const [first] of this.#queues.values()) if (first !== undefined && first.order <= orderMax) return first
    return undefined
  }

  /** Replaces the first batch by its rest, if any. The next turn belongs to another source. */
  replace({ batch, ...when }: WaitingBatch, rest: Batch | undefined): void {
    const owner = ownerOf(batch.source)
    const queue = this.#queues.get(owner)
    // Its source may have left meanwhile.
    if (queue?.[0]?.batch !== batch) return
    queue.shift()
    this.#count(batch, -1)
    if (rest !== undefined) {
      queue.unshift({ batch: rest, ...when })
      this.#count(rest, 1)
    }
    this.#queues.delete(owner)
    if (queue.length > 0) this.#queues.set(owner, queue)
  }

  /** Takes the batches of a source out. Gives the number of their records. */
  remove(source: SourceInfo): number {
    return this.#remove(ownerOf(source))
  }

  #remove(owner: object): number {
    let records = 0
    for (const { batch } of this.#queues.get(owner) ?? []) {
      this.#count(batch, -1)
      records += batch.count
    }
    this.#queues.delete(owner)
    return records
  }

  /** Takes all batches out. Gives the number of their records. */
  removeAll(): number {
    let records = 0
    for (const owner of this.#queues.keys()) records += this.#remove(owner)
    return records
  }

  #count(batch: Batch, sign: 1 | -1): void {
    this.#quota.add(batch.page?.client, sign * sizeOf(batch))
  }
}

function sizeOf({ bytes }: Batch): number {
  return bytes.length + BATCH_OVERHEAD_BYTES
}
