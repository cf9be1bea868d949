import { END_BLOCK, type FileLocation, RecordFile, syncFolders } from '../../disk/record-file.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import type { BlockEntry } from './blocks.ts'
import { Contents, type SourceFile } from './contents.ts'
import type { FilesContext } from './context.ts'
import { addLive } from './live-files.ts'
import { fileName, sourceFolder } from './paths.ts'
import { writeSidecar } from './sidecar.ts'

/** After a file could not be made, how long none is tried. Unit: milliseconds. */
const RETRY_MS = 1000

/** A new file, and the folders that have a new entry. */
type Made = readonly [SourceFile, readonly string[]]

/** The open files of the sources of one id and tag: one file a source. */
export class SourceFiles {
  readonly #context: FilesContext
  readonly #id: string
  readonly #tag: string
  readonly #files = new Map<SourceInfo, SourceFile>()
  /** Files that were made in advance. */
  readonly #ahead = new Map<SourceInfo, Promise<Made>>()
  /** The client of each source. */
  readonly #clients = new WeakMap<SourceInfo, bigint>()
  /** With durability `block`: files that were written to and that the disk was not asked to take. */
  readonly #changed = new Set<SourceFile>()
  /** Pending syncs of files that were started or closed. */
  readonly #awaited: Promise<void>[] = []
  /** Why no file could be made, and until when none is tried. */
  #trouble: { readonly untilMs: number; readonly error: unknown } | undefined

  constructor(context: FilesContext, id: string, tag: string) {
    this.#context = context
    this.#id = id
    this.#tag = tag
  }

  get count(): number {
    return this.#files.size
  }

  entries(): Iterable<[SourceInfo, SourceFile]> {
    return [...this.#files]
  }

  of(source: SourceInfo): SourceFile | undefined {
    return this.#files.get(source)
  }

  /** Notes the client of a source, for a file whose first block is of no page too. */
  noteClient(source: SourceInfo, client: bigint): void {
    this.#clients.set(source, client)
  }

  /** The next file is tried at once, whatever failed before. */
  forgetTrouble(): void {
    this.#trouble = undefined
  }

  /** Whether an entry may follow in a file, behind what is to be written first. Its first records go into any. */
  hasRoom(file: SourceFile, entry: BlockEntry, before: readonly Uint8Array[], waitingBytes: number): boolean {
    const { maxBytes, maxAgeUs, nowMs } = this.#context.config
    const { contents } = file
    if (file.isGone || file.isEnded) return false
    if (!contents.takes(entry.type) || (entry.page !== undefined && entry.page.client !== contents.client)) return false
    if (file.recordBlocks === 0 && waitingBytes === 0) return true
    if ((nowMs() - file.madeMs) * 1000 >= maxAgeUs || contents.hasTooMuchText) return false
    const bytes = before.reduce((sum, block) => sum + block.byteLength, entry.block.byteLength)
    return file.bytes + waitingBytes + bytes + END_BLOCK.byteLength <= maxBytes
  }

  /**
   * A new file for an entry, in place of the one that its source has.
   *
   * @throws what the system said, also for a while after it did.
   */
  async open(entry: BlockEntry): Promise<SourceFile> {
    const { config } = this.#context
    await this.end(entry.source)
    if (this.#trouble !== undefined && config.nowMs() < this.#trouble.untilMs) throw this.#trouble.error
    const made = this.#ahead.get(entry.source) ?? this.#make(entry)
    this.#ahead.delete(entry.source)
    try {
      const [file, folders] = await made
      this.#files.set(entry.source, file)
      if (config.durability === 'block') this.#await(syncFolders(this.#context.disk, folders))
      if (config.durability === 'interval') this.#context.noteFolders(folders)
      this.#trouble = undefined
      return file
    } catch (error) {
      this.#context.fail(error)
      this.#trouble = { untilMs: config.nowMs() + RETRY_MS, error }
      throw error
    }
  }

  /**
   * Starts to make the next file for {@link open}, while the current file receives its last records.
   */
  openAhead(entry: BlockEntry): void {
    if (this.#trouble !== undefined) return
    const made = this.#make(entry)
    // `open` reports the error.
    made.catch(() => undefined)
    this.#ahead.set(entry.source, made)
  }

  async #make(entry: BlockEntry): Promise<Made> {
    const contents = this.#contentsFor(entry)
    await writeSidecar(this.#context, contents.typeSet)
    const made = await RecordFile.create(this.#place(), contents, this.#context.config.nowMs())
    addLive(made[0])
    return made
  }

  /** {@link open} for a process that ends and cannot wait. */
  openNow(entry: BlockEntry): SourceFile {
    const file = RecordFile.createNow(this.#place(), this.#contentsFor(entry), this.#context.config.nowMs())
    this.#files.set(entry.source, file)
    return file
  }

  /** A file was written to. */
  touch(file: SourceFile): void {
    const { nowMs, durability } = this.#context.config
    file.usedMs = nowMs()
    if (durability === 'block') this.#changed.add(file)
  }

  /** Closes the file of a source, where it has one; one without any records is removed. */
  async end(source: SourceInfo): Promise<void> {
    const file = this.#files.get(source)
    if (file === undefined) return
    const context = this.#context
    this.#files.delete(source)
    this.#changed.delete(file)
    const isSynced = context.config.durability !== 'none'
    const ended = file.recordBlocks === 0 ? file.remove() : file.end({ isSynced })
    const forgotten = ended.finally(() => context.forget(file))
    await context.end(context.config.durability === 'block' ? this.#await(forgotten) : forgotten)
  }

  /**
   * Resolves when all written data is on the disk, or a sync has failed. Syncs run in parallel.
   */
  async sync(): Promise<void> {
    for (const file of this.#changed) this.#await(file.sync())
    this.#changed.clear()
    await Promise.all(this.#awaited.splice(0))
  }

  #await(work: Promise<void>): Promise<void> {
    const done = work.catch((error: unknown) => this.#context.failUnsynced(error))
    this.#awaited.push(done)
    return done
  }

  /** A file begins with few types, since it has to have room for records: others follow when they are first used. */
  #contentsFor({ source, type, page }: BlockEntry): Contents {
    const { typeSets, own, writerId, process } = this.#context
    const client = page?.client ?? this.#clients.get(source) ?? 0n
    return new Contents({ source, typeSet: typeSets.beginningWith(type), client, own, writerId, entry: process })
  }

  #place(): FileLocation {
    const { disk, config } = this.#context
    const { dataRoot, nowUs } = config
    const timeUs = Math.max(0, Math.floor(nowUs()))
    const folder = sourceFolder(dataRoot, this.#id, timeUs)
    return { disk, root: dataRoot, folder, nameAt: (us) => fileName(this.#tag, us), timeUs }
  }
}
