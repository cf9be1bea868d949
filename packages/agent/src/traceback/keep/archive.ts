import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { TracebackEvent } from '@sonde/sdk/api'
import { type FileLock, messageOf, turn } from '@sonde/sdk/internal'
import { EVENT_FILE_NAME, type EventDisk } from './disk.ts'
import type { EventFile } from './event-file.ts'
import { KeptEvents } from './kept-events.ts'
import type { KeptIndex, ReadIndex } from './kept-index.ts'
import { decodeEvent, decodeIndex, EVENT_LINE_BYTES, encodeNote, NOTE_BYTES } from './note.ts'
import type { WholeEvents } from './whole-events.ts'

const DATA = '.bin'
const NOTE = '.json'
const PART = '.part'

/** Options of an {@link Archive}. */
export interface ArchiveOptions {
  readonly dir: string
  readonly disk: EventDisk
  /** Limit for all files together. Unit: bytes. */
  readonly bytesMax: number
  readonly eventsMax: number
  /** Numbers that are in use, beside those of its events. Default: none. */
  readonly taken?: ReadonlySet<number> | undefined
  readonly log: { warn(facts: object, message: string): void }
}

/** Size of the pieces in which a file is sent. Unit: bytes. */
const CHUNK_BYTES = 256 << 10

/**
 * The events on disk: a DTB file for each event, with a note. An event exists when its note exists: the file is written
 * first, and both are renamed only after they are on disk. No state of the folder prevents a start.
 */
export class Archive {
  /** Events that were removed to make space. */
  removed = 0
  /** Events with invalid files, or that could not be written. */
  failed = 0
  /** Events with invalid files, which no list has. */
  unreadable = 0
  readonly #options: ArchiveOptions
  readonly #kept: KeptEvents
  #lock: FileLock | undefined

  constructor(options: ArchiveOptions) {
    this.#options = options
    this.#kept = new KeptEvents(options)
  }

  /** Size on disk. Unit: bytes. */
  get bytes(): number {
    return this.#kept.bytes
  }

  get count(): number {
    return this.#kept.count
  }

  /** Whether a number is in use. */
  has(id: number): boolean {
    return this.#kept.get(id) !== undefined || this.#options.taken?.has(id) === true
  }

  get(id: number): TracebackEvent | undefined {
    return this.#kept.get(id)?.event
  }

  /** The events by start, the latest last. Valid until an event is added or removed. */
  get byStart(): readonly TracebackEvent[] {
    return this.#kept.byStart
  }

  /** The events as people see them: those of several parts are one. */
  get whole(): WholeEvents {
    return this.#kept.whole
  }

  /** Path of the samples of an event. */
  dataPath(id: number): string {
    return join(this.#options.dir, `${id}${DATA}`)
  }

  /** Path of the samples while they are written. */
  partPath(id: number): string {
    return this.dataPath(id) + PART
  }

  /**
   * Creates the folder and takes its lock.
   * @throws SondeError `TRB_DIR` if another process has the lock, or a system error.
   */
  async ready(): Promise<void> {
    if (this.#lock !== undefined) return
    const { dir, disk } = this.#options
    await disk.makeFolder(dir)
    this.#lock ??= disk.lock(dir)
    if (this.#lock !== undefined) return
    const what = `another process keeps its events in ${dir}`
    throw new SondeError('TRB_DIR', `${what}; set another folder as traceback.dir for one of them`)
  }

  /** Releases the folder. */
  close(): void {
    this.#lock?.close()
    this.#lock = undefined
  }

  /**
   * Lists the events of the folder, removes unfinished files and logs that. Never rejects. A missing folder is created
   * with the first event.
   */
  async open(): Promise<void> {
    const { dir, disk, log } = this.#options
    let names: readonly string[]
    try {
      names = await disk.names(dir)
      await this.ready()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      log.warn({ dir, reason: messageOf(error) }, 'the folder of events is not usable; events have no samples')
      return
    }
    const { noted, data, unfinished } = sorted(names)
    for (const id of [...noted].sort((a, b) => a - b)) await this.#find(id, data.has(id))
    for (const name of unfinished) await this.#remove(name)
    if (unfinished.length > 0)
      log.warn({ dir, files: unfinished.length }, 'unfinished events of an earlier run were removed')
    await this.#makeRoom()
  }

  /**
   * Lists an event that another thread of this process wrote into the folder. If the limits have no room for it, it is
   * removed.
   *
   * @returns Whether it is kept.
   */
  async adopt(id: number): Promise<boolean> {
    await this.#find(id, true)
    if (!this.#kept.isOver) return this.has(id)
    await this.#leave(id)
    return false
  }

  /**
   * Removes the unfinished files of events with numbers below another, except those that are still written. Does
   * nothing without the lock.
   */
  async removeUnfinished(belowId: number, isWritten: (id: number) => boolean): Promise<void> {
    if (this.#lock === undefined) return
    const { unfinished } = sorted(await this.#options.disk.names(this.#options.dir), belowId)
    for (const name of unfinished) if (!isWritten(Number.parseInt(name, 10))) await this.#remove(name)
  }

  async #find(id: number, hasData: boolean): Promise<void> {
    const { dir, disk, log } = this.#options
    const path = join(dir, `${id}${NOTE}`)
    try {
      const event = decodeEvent(await disk.read(path, 0, EVENT_LINE_BYTES))
      const isWhole = event.id === id && (hasData || event.sizeBytes === 0)
      if (!isWhole)
        throw new SondeError('TRB_NOTE', 'the note belongs to another event, or the file of the event is gone')
      const dataBytes = hasData ? await disk.sizeOf(this.dataPath(id)) : 0
      if (dataBytes < event.sizeBytes) throw new SondeError('TRB_NOTE', 'the file of an event is cut off')
      this.#kept.add(event, dataBytes + (await disk.sizeOf(path)))
    } catch (error) {
      this.failed++
      this.unreadable++
      log.warn({ path, reason: messageOf(error) }, 'an event on disk is invalid; it is not listed')
    }
    if (turn.isOver()) await turn.next()
  }

  /**
   * Keeps a finished event, whole or not at all. If the disk is full, one other event is removed: the oldest, but only
   * an event of a client to make space for a client's event.
   * @throws a system error; then {@link remember} should be called.
   */
  async keep(event: TracebackEvent, index: KeptIndex, file: EventFile): Promise<void> {
    const note = await encodeNote(event, index)
    await this.#write(event.id, note, file).catch(async () => {
      await this.#leave(event.client === undefined ? this.#kept.nextToLeave() : this.#kept.nextOfClients())
      await this.#write(event.id, note, file)
    })
    this.#kept.add(event, event.sizeBytes + note.byteLength)
    await this.#makeRoom()
  }

  /** Writes the file, then its note, which makes the event exist. May be called again after a failure. */
  async #write(id: number, note: Uint8Array, file: EventFile): Promise<void> {
    const { dir, disk } = this.#options
    const path = join(dir, `${id}${NOTE}`)
    await this.ready()
    if (file.isOpen) {
      await file.finish()
      await disk.rename(this.partPath(id), this.dataPath(id))
    }
    try {
      const written = await disk.create(path + PART)
      try {
        await written.write(note, 0)
        await written.sync()
      } finally {
        await written.close()
      }
      await disk.rename(path + PART, path)
    } catch (error) {
      await disk.unlink(path + PART).catch(() => undefined)
      throw error
    }
    await disk.syncFolder(dir)
  }

  /**
   * Keeps an event only in memory because the disk refused it, and removes its files if possible. It counts towards the
   * limits like other events.
   */
  async remember(event: TracebackEvent, file: EventFile): Promise<void> {
    await file.close().catch(() => undefined)
    for (const path of [this.partPath(event.id), this.dataPath(event.id)])
      await this.#options.disk.unlink(path).catch(() => undefined)
    this.failed++
    this.#kept.add(event, 0)
    await this.#makeRoom()
  }

  /**
   * Reads the index of an event's file.
   * @throws SondeError `TRB_NOTE`, or a system error.
   */
  async indexOf(id: number): Promise<ReadIndex> {
    const { dir, disk } = this.#options
    const path = join(dir, `${id}${NOTE}`)
    return decodeIndex(await disk.read(path, 0, Math.min(NOTE_BYTES, await disk.sizeOf(path))))
  }

  /** Bytes of the file of an event. */
  read(id: number, at: number, bytes: number): Promise<Uint8Array> {
    return this.#options.disk.read(this.dataPath(id), at, bytes)
  }

  /** The file of an event in pieces, each read on request. */
  async *chunks(id: number, bytes: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes; at += CHUNK_BYTES) {
      const wanted = Math.min(CHUNK_BYTES, bytes - at)
      const chunk = await this.read(id, at, wanted)
      // The event was removed or cut meanwhile. The answer ends as broken.
      if (chunk.byteLength < wanted) throw new SondeError('TRB_NOTE', 'the file of an event is cut off')
      yield chunk
    }
  }

  /** Removes the events that {@link KeptEvents.nextToLeave} names. */
  async #makeRoom(): Promise<void> {
    while (this.#kept.isOver) {
      await this.#leave(this.#kept.nextToLeave())
      if (turn.isOver()) await turn.next()
    }
  }

  async #leave(id: number | undefined): Promise<void> {
    const kept = id === undefined ? undefined : this.#kept.remove(id)
    if (kept === undefined) return
    const { bytes, event } = kept
    this.removed++
    if (bytes === 0) return
    // The note is removed first: a file without a note is unfinished, and the next start removes it.
    await this.#remove(`${event.id}${NOTE}`)
    if (event.sizeBytes > 0) await this.#remove(`${event.id}${DATA}`)
  }

  async #remove(name: string): Promise<void> {
    const { dir, disk, log } = this.#options
    try {
      await disk.unlink(join(dir, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      log.warn({ name, reason: messageOf(error) }, 'the file of an event cannot be removed')
    }
  }
}

/** The files of events with numbers below another: those with a note, those with samples, and unfinished files. */
function sorted(names: readonly string[], belowId = Number.POSITIVE_INFINITY) {
  const noted = new Set<number>()
  const data = new Map<number, string>()
  const unfinished: string[] = []
  for (const name of names) {
    const [, number, kind, part] = EVENT_FILE_NAME.exec(name) ?? []
    const id = Number(number)
    if (number === undefined || id >= belowId) continue
    if (part !== undefined) unfinished.push(name)
    else if (kind === 'json') noted.add(id)
    else data.set(id, name)
  }
  for (const [id, name] of data) if (!noted.has(id)) unfinished.push(name)
  return { noted, data, unfinished }
}
