import type { Batch } from '../schema/batch.ts'
import { KeptTexts } from '../schema/texts.ts'
import { type AppendResult, type DeliveryQueue, entryBytes, type QueueEntry, type TakenEntries } from './queue.ts'

interface HeldEntry extends QueueEntry {
  readonly acknowledge: (result: AppendResult) => void
  /** Memory of the batch with its texts. Unit: bytes. */
  readonly heldBytes: number
  /** Records that have not left. */
  leftRecords: number
}

const COMPACT_COUNT = 1024

/** A queue in memory: copies of batches, in order. Delivery enforces its limit. */
export class MemoryQueue implements DeliveryQueue {
  records = 0
  bytes = 0
  waitingRecords = 0
  waitingBytes = 0
  evictableBytes = 0
  /** Waiting batches by ascending id, from index `#head`; earlier entries have left. */
  #waiting: (HeldEntry | undefined)[] = []
  #head = 0
  readonly #taken = new Map<number, HeldEntry>()
  readonly #texts = new KeptTexts()
  #nextId = 0

  append(batch: Batch): Promise<AppendResult> {
    const { promise, resolve } = Promise.withResolvers<AppendResult>()
    // `slice` of a Buffer would not copy.
    const copy: Batch = { ...batch, checksum: undefined, bytes: new Uint8Array(batch.bytes) }
    const heldBytes = entryBytes(batch) + this.#texts.bytesOf(batch)
    const held: HeldEntry = {
      id: this.#nextId++,
      batch: copy,
      acknowledge: resolve,
      heldBytes,
      leftRecords: batch.count,
    }
    this.#waiting.push(held)
    this.records += batch.count
    this.bytes += heldBytes
    this.#countWaiting(held, 1)
    return promise
  }

  take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    const entries: HeldEntry[] = []
    let records = 0
    let bytes = 0
    for (let next = this.#waiting[this.#head]; next !== undefined; next = this.#waiting[this.#head]) {
      records += next.batch.count
      bytes += entryBytes(next.batch)
      if (entries.length > 0 && (records > recordsMax || bytes > bytesMax)) break
      this.#shift()
      this.#taken.set(next.id, next)
      entries.push(next)
    }
    return Promise.resolve({ entries, unreadableRecords: 0 })
  }

  leave({ id }: QueueEntry, records: number): void {
    const held = this.#taken.get(id)
    if (held === undefined) return
    held.leftRecords -= records
    this.records -= records
    if (held.leftRecords > 0) return
    this.#taken.delete(id)
    this.#release(held)
  }

  nack(entries: readonly QueueEntry[]): void {
    for (const held of this.#untake(entries)) {
      let place = this.#head
      while ((this.#waiting[place]?.id ?? held.id) < held.id) place++
      this.#waiting.splice(place, 0, held)
      this.#countWaiting(held, 1)
    }
  }

  evict(bytesMin: number): number {
    let bytes = 0
    let records = 0
    for (
      let next = this.#waiting[this.#head];
      next !== undefined && bytes < bytesMin;
      next = this.#waiting[this.#head]
    ) {
      bytes += next.heldBytes
      records += next.leftRecords
      this.records -= next.leftRecords
      this.#shift()
      this.#release(next)
    }
    return records
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #untake(entries: readonly QueueEntry[]): HeldEntry[] {
    return entries.flatMap(({ id }) => {
      const held = this.#taken.get(id)
      this.#taken.delete(id)
      return held ?? []
    })
  }

  #shift(): void {
    const held = this.#waiting[this.#head]
    if (held !== undefined) this.#countWaiting(held, -1)
    this.#waiting[this.#head++] = undefined
    if (this.#head >= COMPACT_COUNT && this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
  }

  #countWaiting({ batch, heldBytes, leftRecords }: HeldEntry, sign: 1 | -1): void {
    this.waitingRecords += sign * leftRecords
    this.waitingBytes += sign * entryBytes(batch)
    this.evictableBytes += sign * heldBytes
  }

  #release({ acknowledge, heldBytes }: HeldEntry): void {
    this.bytes -= heldBytes
    acknowledge('kept')
  }
}
