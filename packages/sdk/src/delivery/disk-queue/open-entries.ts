import { entryBytes, type QueueEntry } from '../queue.ts'

/** An entry with the counts of its records. */
interface Open {
  readonly entry: QueueEntry
  leftRecords: number
  arrivedRecords: number
}

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
  readonly #open = new Map<number, Open>()
  #waiting: QueueEntry[] = []
  /** Records of entries that have left while earlier entries were open, as far as they have arrived, by id. */
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
    this.#open.set(entry.id, { entry, leftRecords: entry.batch.count, arrivedRecords: 0 })
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
    for (const { id } of back) this.takenRecords -= this.#open.get(id)?.leftRecords ?? 0
    this.#waiting = [...this.#waiting, ...back].sort((a, b) => a.id - b.id)
  }

  /** Records of a taken entry leave; with the last of them the entry does. */
  leave({ id }: QueueEntry, records: number, arrivedRecords: number): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.leftRecords -= records
    open.arrivedRecords += arrivedRecords
    this.takenRecords -= records
    this.records -= records
    if (open.leftRecords > 0) return
    this.#open.delete(id)
    this.bytes -= entryBytes(open.entry.batch)
    if (open.arrivedRecords > 0) this.#arrived.set(id, open.arrivedRecords)
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
