import type { Disk } from '../../disk/disk.ts'
import { SondeError } from '../../errors.ts'
import type { Cursor, CursorPlace } from './cursor.ts'
import type { OpenEntries } from './open-entries.ts'
import { setAside } from './open-folder.ts'
import type { QueueReader } from './queue-reader.ts'
import type { QueueSegment } from './segment.ts'

/** Options of {@link LeftRecords}. */
export interface LeftRecordsParts {
  readonly disk: Disk
  readonly cursor: Cursor
  readonly segments: QueueSegment[]
  readonly entries: OpenEntries
  readonly reader: QueueReader
  readonly onFault: (error: unknown) => void
}

/** Writes the cursor of a queue, and removes the segments behind it. */
export class LeftRecords {
  readonly #parts: LeftRecordsParts
  #savedOrdinal = 0
  #saving: Promise<void> | undefined

  constructor(parts: LeftRecordsParts) {
    this.#parts = parts
  }

  /** Begins at the place of an earlier process, and writes it while there may be room for the file. */
  async begin(place: CursorPlace): Promise<void> {
    const { cursor, entries, reader, onFault } = this.#parts
    this.#savedOrdinal = place.ordinal
    entries.out = place.out
    reader.skipTo(place.ordinal)
    await cursor.write(place).catch(onFault)
  }

  /** Records have left: once at a time, and late is early enough. */
  save(): void {
    this.#saving ??= this.#saveNow()
  }

  /** Saves again what could not be saved. */
  saveAgain(): void {
    if (this.#leftBelow > this.#savedOrdinal) this.save()
  }

  /** Saves for the last time. */
  async close(): Promise<void> {
    this.save()
    await this.#saving
    await this.#parts.cursor.close().catch(this.#parts.onFault)
  }

  async #saveNow(): Promise<void> {
    const { cursor, entries, onFault } = this.#parts
    // Entries that leave in the same turn are written as one.
    await undefined
    try {
      do {
        const ordinal = this.#leftBelow
        entries.settleBelow(ordinal)
        if (ordinal > this.#savedOrdinal) await cursor.write({ ordinal, out: entries.out })
        this.#savedOrdinal = ordinal
        await this.#removeLeft()
      } while (this.#leftBelow > this.#savedOrdinal)
    } catch (error) {
      onFault(error)
    } finally {
      this.#saving = undefined
    }
  }

  /** Every record below this ordinal has left. */
  get #leftBelow(): number {
    return this.#parts.entries.lowestId ?? this.#parts.reader.ordinal
  }

  async #removeLeft(): Promise<void> {
    const { disk, segments, reader, onFault } = this.#parts
    for (let [oldest] = segments; oldest !== undefined; [oldest] = segments) {
      if (oldest.isOpen || oldest.end > this.#savedOrdinal) return
      if (reader.segment === oldest) reader.close()
      segments.shift()
      if (!oldest.isForeign) await disk.unlink(oldest.path)
      else {
        const faults: string[] = []
        await setAside(disk, oldest.path, 'nothing in it can be read', faults)
        for (const sentence of faults) onFault(new SondeError('QUE_DAMAGED', sentence))
      }
    }
  }
}
