import { SondeError } from '@sonde/sdk'
import { eventIndex } from '../event-index.ts'
import type { Archive } from '../keep/archive.ts'
import type { EventDisk } from '../keep/disk.ts'
import type { ReadIndex } from '../keep/kept-index.ts'
import type { EventDeviceLookup, KnownRules } from '../lookups.ts'
import type { OpenEvent } from '../window/open-event.ts'
import type { OpenEvents } from '../window/open-events.ts'
import type { SourceNotices } from '../window/source-notices.ts'
import { ReadIndexes } from './read-indexes.ts'
import type { ReadableEvent } from './samples.ts'

/** Index of an event whose samples could not be kept. */
const NOTHING: ReadIndex = { parts: [], blocks: [], series: [], listed: [], leftOut: [], types: [] }

/** Options of an {@link EventReader}. */
export interface EventReaderOptions {
  readonly archive: Archive
  readonly open: OpenEvents
  readonly disk: EventDisk
  readonly devices: EventDeviceLookup
  readonly rules: KnownRules
  readonly told: SourceNotices
}

/** The file of a closed event. */
export interface EventContent {
  readonly bytes: number
  /** Each piece is read on request. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Reads the samples of kept and open events. */
export class EventReader {
  readonly #options: EventReaderOptions
  readonly #indexes = new ReadIndexes()

  constructor(options: EventReaderOptions) {
    this.#options = options
  }

  /**
   * The samples of an event, even while it is open.
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NOTE` if its note is invalid.
   */
  async readable(id: number): Promise<ReadableEvent> {
    const { archive, open } = this.#options
    const going = open.get(id)
    if (going !== undefined) {
      const kept = await this.indexOf(going)
      const index = { ...kept, types: going.book.parts.map(({ type }) => type) }
      return { index, read: (at, bytes) => this.#readOpen(id, at, bytes) }
    }
    const event = archive.get(id)
    if (event === undefined) throw unknown(id)
    const index = event.sizeBytes === 0 ? NOTHING : await this.#indexes.of(id, () => archive.indexOf(id))
    return { index, read: (at, bytes) => archive.read(id, at, bytes) }
  }

  /**
   * The file of a closed event, piece by piece.
   * @throws SondeError `TRB_UNKNOWN` if there is no such event, `TRB_NO_FILE` if it is open or has no samples.
   */
  fileOf(id: number): EventContent {
    const { archive, open } = this.#options
    if (open.get(id) !== undefined)
      throw new SondeError('TRB_NO_FILE', `event ${id} is still open; its file exists after its end`)
    const event = archive.get(id)
    if (event === undefined) throw unknown(id)
    if (event.sizeBytes === 0) throw new SondeError('TRB_NO_FILE', `event ${id} has no samples and no file`)
    return { bytes: event.sizeBytes, chunks: archive.chunks(id, event.sizeBytes) }
  }

  /** The index of an event that is not kept yet. */
  indexOf(event: OpenEvent): ReturnType<typeof eventIndex> {
    const { devices, rules, told } = this.#options
    const [signal, ...others] = rules.signalsOf(event.start.rule)
    return eventIndex(event, {
      devices,
      told,
      signal: others.length === 0 ? signal : undefined,
      listed: rules.listed(),
    })
  }

  /** Bytes of the file of an event that was open at the request, and may be kept by now. */
  async #readOpen(id: number, at: number, bytes: number): Promise<Uint8Array> {
    const { archive, disk } = this.#options
    try {
      return await disk.read(archive.partPath(id), at, bytes)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      return archive.read(id, at, bytes)
    }
  }
}

function unknown(id: number): SondeError {
  return new SondeError('TRB_UNKNOWN', `there is no event ${id}; /api/v1/incidents?kind=event lists them`)
}
