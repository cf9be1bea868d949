import type { Batch } from '../schema/batch.ts'
import { type DeliveryQueue, entryBytes, type QueueEntry } from './queue.ts'

interface Held extends QueueEntry {
  readonly acknowledge: () => void
}

const COMPACT_COUNT = 1024

/** The queue of a process that may lose it: batches copied to memory, in order. Its limit is kept by delivery. */
export class MemoryQueue implements DeliveryQueue {
  readonly durable = false
  records = 0
  bytes = 0
  waitingRecords = 0
  waitingBytes = 0
  /** Waiting batches by ascending id, from `#head` on; what is before it has left. */
  #waiting: (Held | undefined)[] = []
  #head = 0
  readonly #taken = new Map<number, Held>()
  #nextId = 0

  append(batch: Batch): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    // Not `slice`: that of a Buffer does not copy.
    const { type, source, clock, count } = batch
    const copy: Batch = { type, source, clock, count, bytes: new Uint8Array(batch.bytes) }
    this.#waiting.push({ id: this.#nextId++, batch: copy, acknowledge: resolve })
    this.records += batch.count
    this.bytes += entryBytes(batch)
    this.#countWaiting(batch, 1)
    return promise
  }

  take(recordsMax: number, bytesMax: number): Promise<readonly QueueEntry[]> {
    const taken: Held[] = []
    let records = 0
    let bytes = 0
    for (let next = this.#waiting[this.#head]; next !== undefined; next = this.#waiting[this.#head]) {
      records += next.batch.count
      bytes += entryBytes(next.batch)
      if (taken.length > 0 && (records > recordsMax || bytes > bytesMax)) break
      this.#shift()
      this.#taken.set(next.id, next)
      taken.push(next)
    }
    return Promise.resolve(taken)
  }

  ack(id: number): void {
    const held = this.#taken.get(id)
    if (held === undefined) return
    this.#taken.delete(id)
    this.#release(held)
  }

  nack(id: number): void {
    const held = this.#taken.get(id)
    if (held === undefined) return
    this.#taken.delete(id)
    let place = this.#head
    while ((this.#waiting[place]?.id ?? id) < id) place++
    this.#waiting.splice(place, 0, held)
    this.#countWaiting(held.batch, 1)
  }

  evict(): QueueEntry | undefined {
    const held = this.#waiting[this.#head]
    if (held === undefined) return undefined
    this.#shift()
    this.#release(held)
    return held
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #shift(): void {
    const held = this.#waiting[this.#head]
    if (held !== undefined) this.#countWaiting(held.batch, -1)
    this.#waiting[this.#head++] = undefined
    if (this.#head >= COMPACT_COUNT && this.#head * 2 >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head)
      this.#head = 0
    }
  }

  #countWaiting(batch: Batch, sign: 1 | -1): void {
    this.waitingRecords += sign * batch.count
    this.waitingBytes += sign * entryBytes(batch)
  }

  #release({ batch, acknowledge }: Held): void {
    this.records -= batch.count
    this.bytes -= entryBytes(batch)
    acknowledge()
  }
}
