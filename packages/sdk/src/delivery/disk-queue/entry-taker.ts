import { entryBytes, type QueueEntry, type TakenEntries } from '../queue.ts'
import { splitBatch } from '../split-batch.ts'
import type { OpenEntries } from './open-entries.ts'
import type { QueueReader, QueueStep } from './queue-reader.ts'
import type { QueueWriter } from './queue-writer.ts'

/** Options of {@link EntryTaker}. */
export interface EntryTakerParts {
  readonly entries: OpenEntries
  readonly reader: QueueReader
  readonly writer: QueueWriter
  /** Age at which records are removed. Unit: milliseconds. */
  readonly ageMaxMs: number
  /** Resolves when files may be read; rejects if they cannot be now. */
  readonly opened: () => Promise<void>
  readonly isClosing: () => boolean
  /** Whether no record waits, neither in files nor to be written. */
  readonly isEmpty: () => boolean
  /** Records were passed that cannot be read. */
  readonly onUnreadable: () => void
}

/** Takes the oldest entries of a queue: those in memory first, then batches that it reads. */
export class EntryTaker {
  readonly #parts: EntryTakerParts
  #taking: Promise<unknown> = Promise.resolve()

  constructor(parts: EntryTakerParts) {
    this.#parts = parts
  }

  /** See `take` of the queue. One call runs at a time. */
  take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    const taken = this.#taking.then(() => this.#take(recordsMax, bytesMax))
    this.#taking = taken.catch(() => undefined)
    return taken
  }

  async #take(recordsMax: number, bytesMax: number): Promise<TakenEntries> {
    const { entries: open, reader, writer, opened, isClosing, isEmpty, onUnreadable } = this.#parts
    const entries: QueueEntry[] = []
    let [records, bytes, unreadableRecords, unreadable] = [0, 0, 0, '']
    try {
      await opened()
      while (!isClosing()) {
        const { next } = open
        if (next !== undefined) {
          records += next.batch.count
          bytes += entryBytes(next.batch)
          if (entries.length > 0 && (records > recordsMax || bytes > bytesMax)) break
          open.take()
          entries.push(next)
          continue
        }
        // Asked for before the files are read: what is written meanwhile ends the wait.
        const { progress } = writer
        const step = await reader.next()
        if (step.kind === 'batch') this.#add(step, { batchRecordsMax: recordsMax, batchBytesMax: bytesMax })
        else if (step.kind === 'unreadable') {
          unreadableRecords += step.records
          unreadable = step.words
          onUnreadable()
        } else if (entries.length > 0 || unreadableRecords > 0 || isEmpty()) break
        else await progress
      }
    } catch (error) {
      if (unreadableRecords === 0) {
        open.putBack(entries)
        throw error
      }
    }
    return { entries, unreadableRecords, unreadable }
  }

  /** A batch was read: its pieces wait in memory. */
  #add(
    { batch, ordinal, segment }: Extract<QueueStep, { kind: 'batch' }>,
    limits: Parameters<typeof splitBatch>[1],
  ): void {
    const expiresMs = segment.usedMs + this.#parts.ageMaxMs
    let id = ordinal
    for (const piece of splitBatch(batch, limits)) {
      this.#parts.entries.add({ id, batch: piece, expiresMs })
      id += piece.count
    }
  }
}
