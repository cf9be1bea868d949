import { entryBytes, type QueueEntry, recordsOf } from '../queue.ts'

/** Entries that were read from a queue and have not left it: they wait in memory, or are taken. */
export class OpenEntries {
  /** Records of all entries; `takenRecords` is the part that is being sent. */
  records = 0
  takenRecords = 0
  /** Size of all entries. Unit: bytes. */
  bytes = 0
  /** Records of the entries that have arrived, in all. */
  out: number = 0
  /** By id, in the order of reading, which is that of ids. */
  readonly #open = new Map<number, QueueEntry>()
  #waiting: QueueEntry[] = []
  /** Records that have arrived while earlier entries were open, by id. */
  readonly #arrived = new Map<number, number>()

  /** The lowest id; undefined if there are no entries. */
  get lowestId(): number | undefined {
    return this.#open.keys().next().value
  }

  /** The next entry to be taken. */
  get next(): QueueEntry | undefined {
    return this.#waiting[0]
  }

  /** An entry was read; it waits behind the others. */
  add(entry: QueueEntry): void {
    this.#open.set(entry.id, entry)
    this.#waiting.push(entry)
    this.records += entry.batch.count
    this.bytes += entryBytes(entry.batch)
  }

  /** Takes the next entry. */
  take(): void {
    this.takenRecords += this.#waiting.shift()?.batch.count ?? 0
  }

  /** Taken entries wait again, in their order. */
  putBack(entries: readonly QueueEntry[]): void {
    const back = entries.filter(({ id }) => this.#open.has(id))
    this.takenRecords -= recordsOf(back)
    this.#waiting = [...this.#waiting, ...back].sort((a, b) => a.id - b.id)
  }

  /** Taken entries leave. */
  leave(entries: readonly QueueEntry[], { hasArrived }: { readonly hasArrived: boolean }): void {
    for (const entry of entries) {
      if (!this.#open.delete(entry.id)) continue
      const { count } = entry.batch
      this.takenRecords -= count
      this.records -= count
      this.bytes -= entryBytes(entry.batch)
      if (hasArrived) this.#arrived.set(entry.id, count)
    }
  }

  /** Everything below an ordinal has left: its part that has arrived counts as out. */
  settleBelow(ordinal: number): void {
    for (const [id, records] of this.#arrived) {
      if (id >= ordinal) continue
      this.#arrived.delete(id)
      this.out += records
    }
  }
}
