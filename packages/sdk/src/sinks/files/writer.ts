import type { PageId, SourceInfo } from '../../schema/batch.ts'
import { encodeEndBlock } from '../../wire/dtb/encode.ts'
import type { Entry } from './blocks.ts'
import { Contents } from './contents.ts'
import type { FilesContext } from './context.ts'
import { addLive } from './live-files.ts'
import { Losses } from './losses.ts'
import { lastPageOf } from './pages.ts'
import { fileName, sourceFolder } from './paths.ts'
import { type FilesDropReason, reasonOf } from './reasons.ts'
import { type Place, RecordFile, syncFolders } from './record-file.ts'
import { writeSidecar } from './sidecar.ts'

/** Written with one call: large enough that the call costs little, small enough that a turn is short. Unit: bytes. */
const CHUNK_BYTES = 1 << 20
/** Blocks that the system takes with one call. */
const CHUNK_BLOCKS = 512
/** After a file could not be made, how long none is tried. Unit: milliseconds. */
const RETRY_MS = 1000
/** Clients whose last page is remembered; whoever was silent longest is looked up in the files again. */
const CLIENT_COUNT_LIMIT = 1024
const END_BLOCK_BYTES = encodeEndBlock().byteLength

/** What is written with one call. */
interface Chunk {
  readonly file: RecordFile
  readonly blocks: Uint8Array[]
  /** The entry that a block is; undefined for types and texts. */
  readonly entries: (Entry | undefined)[]
  bytes: number
}

/**
 * Writes what the sources of one id and tag report, in the order in which it was accepted: one file at a time for each of them. Two of the same name share it, so that the pages of a client
 * are written in order.
 */
export class SourceWriter {
  readonly id: string
  readonly tag: string
  readonly #context: FilesContext
  readonly #losses = new Losses()
  readonly #files = new Map<SourceInfo, RecordFile>()
  /** The last page written, by client. */
  readonly #lastPages = new Map<bigint, bigint>()
  readonly #clients = new WeakMap<SourceInfo, bigint>()
  /** Everything that was added and is neither written nor dropped, in order. */
  readonly #pending = new Set<Entry>()
  /** Files that this round of writing touched. */
  readonly #changed = new Set<RecordFile>()
  #queued: Entry[] = []
  #queuedDone = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #retryAtMs = Number.NEGATIVE_INFINITY
  #retryReason: FilesDropReason = 'failed'

  constructor(context: FilesContext, id: string, tag: string) {
    this.#context = context
    this.id = id
    this.tag = tag
  }

  /** Whether nothing is open, waits, or has to be told. */
  get isIdle(): boolean {
    return this.#files.size === 0 && this.#running === undefined && this.#losses.untold === undefined
  }

  add(entry: Entry): void {
    if (entry.page !== undefined) this.#clients.set(entry.source, entry.page.client)
    this.#wait(entry)
    this.#queued.push(entry)
    this.#start()
  }

  /** Counts records that were never queued. */
  count(reason: FilesDropReason, records: number, source: SourceInfo): void {
    this.#context.count(reason, records)
    this.#losses.add(reason, records, source)
  }

  /** Resolves when everything added so far is written or dropped. */
  settled(): Promise<void> | undefined {
    return this.#queued.length > 0 ? this.#queuedDone.promise : this.#running
  }

  /** Closes files that are old, or that were not written to for long. */
  async closeOld(nowMs: number): Promise<void> {
    const { maxAgeUs, idleS } = this.#context.config
    for (const [source, file] of this.#files) {
      if (this.#running !== undefined) return
      const idleMs = Math.max(idleS * 1000, source.intervalMs * 3)
      if ((nowMs - file.madeMs) * 1000 >= maxAgeUs || nowMs - file.usedMs >= idleMs)
        await this.#exclusive(() => this.#end(source))
    }
  }

  /** Writes everything, tells what was lost, and closes the files. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    await this.#exclusive(async () => {
      if (this.#losses.untold !== undefined) {
        this.#retryAtMs = Number.NEGATIVE_INFINITY
        await this.#write([this.#lossEntry(this.#losses.untold)])
      }
      for (const source of [...this.#files.keys()]) await this.#end(source)
    })
  }

  /** Writes what is queued at once, since the process ends and waits for nothing. What was under way is written again, to the same place. */
  finishNow(): void {
    const underWay = new Set<Uint8Array>()
    for (const file of this.#files.values()) {
      for (const block of file.underWay) underWay.add(block)
      file.appendNow([])
    }
    for (const entry of [...this.#pending]) {
      if (underWay.has(entry.block)) this.#done(entry)
      else this.#writeNow(entry)
    }
    this.#queued = []
  }

  #start(): void {
    if (this.#running === undefined) void this.#exclusive(() => this.#run())
  }

  /** One thing at a time: what comes meanwhile is queued. */
  #exclusive(work: () => Promise<void>): Promise<void> {
    const running = work().finally(() => {
      this.#running = undefined
      if (this.#queued.length > 0) this.#start()
    })
    this.#running = running
    return running
  }

  async #run(): Promise<void> {
    while (this.#queued.length > 0) {
      const group = this.#queued
      const done = this.#queuedDone
      this.#queued = []
      if (this.#losses.untold !== undefined) group.unshift(this.#lossEntry(this.#losses.untold))
      this.#queuedDone = Promise.withResolvers()
      this.#changed.clear()
      await this.#write(group)
      if (this.#context.config.durability === 'block') await this.#sync()
      done.resolve()
    }
  }

  async #write(group: readonly Entry[]): Promise<void> {
    let chunk: Chunk | undefined
    for (const entry of group) {
      if (!this.#pending.has(entry)) continue
      if (await this.#isWritten(entry)) {
        this.#context.stats.duplicates += entry.counted
        this.#done(entry)
        continue
      }
      let file = this.#files.get(entry.source)
      if (chunk !== undefined && (chunk.file !== file || isFull(chunk))) {
        await this.#commit(chunk)
        chunk = undefined
        file = this.#files.get(entry.source)
      }
      let before = file?.contents.before(entry) ?? []
      if (file === undefined || !this.#hasRoom(file, entry, before, chunk?.bytes ?? 0)) {
        if (chunk !== undefined) await this.#commit(chunk)
        chunk = undefined
        file = await this.#open(entry)
        if (file === undefined) continue
        before = file.contents.before(entry)
      }
      chunk ??= { file, blocks: [], entries: [], bytes: 0 }
      for (const block of before) push(chunk, block)
      push(chunk, file.contents.seal(entry), entry)
      if (entry.page !== undefined) this.#remember(entry.page)
    }
    if (chunk !== undefined) await this.#commit(chunk)
  }

  /** Whether an entry may follow in a file, behind what is to be written first. Its first records go into any. */
  #hasRoom(file: RecordFile, entry: Entry, before: readonly Uint8Array[], waitingBytes: number): boolean {
    const { maxBytes, maxAgeUs, nowMs } = this.#context.config
    const { contents } = file
    if (!contents.takes(entry.type) || (entry.page !== undefined && entry.page.client !== contents.client)) return false
    if (file.recordBlocks === 0 && waitingBytes === 0) return true
    if ((nowMs() - file.madeMs) * 1000 >= maxAgeUs) return false
    const bytes = before.reduce((sum, block) => sum + block.byteLength, entry.block.byteLength)
    return file.bytes + waitingBytes + bytes + END_BLOCK_BYTES <= maxBytes
  }

  /** Writes a chunk. What does not get into a file that had room for others is tried once more in a new one. */
  async #commit({ file, blocks, entries }: Chunk): Promise<void> {
    const context = this.#context
    context.use(file)
    const { written, error } = await file.append(blocks)
    file.usedMs = context.config.nowMs()
    this.#changed.add(file)
    for (const entry of entries.slice(0, written)) {
      if (entry === undefined) continue
      file.recordBlocks++
      this.#done(entry)
    }
    if (error === undefined) {
      context.failing = ''
      return
    }
    context.fail(error)
    const source = entries.at(-1)?.source
    if (source !== undefined) await this.#end(source)
    const left = entries.slice(written).filter((entry) => entry !== undefined)
    if (file.recordBlocks === 0) for (const entry of left) this.#drop(reasonOf(error), entry)
    else await this.#write(left)
  }

  /** A new file for an entry, in place of the one that its source has; undefined, the entry dropped, where none can be made. */
  async #open(entry: Entry): Promise<RecordFile | undefined> {
    const context = this.#context
    const { source } = entry
    await this.#end(source)
    if (context.config.nowMs() < this.#retryAtMs) {
      this.#drop(this.#retryReason, entry)
      return undefined
    }
    try {
      const contents = this.#contentsFor(entry)
      await writeSidecar(context, contents)
      const [file, folders] = await RecordFile.create(this.#place(), contents, context.config.nowMs())
      addLive(file)
      this.#files.set(source, file)
      if (context.config.durability === 'block') await syncFolders(folders)
      if (context.config.durability === 'interval') context.behind(syncFolders(folders))
      return file
    } catch (error) {
      context.fail(error)
      this.#retryReason = reasonOf(error)
      this.#retryAtMs = context.config.nowMs() + RETRY_MS
      this.#drop(this.#retryReason, entry)
      return undefined
    }
  }

  /** A file begins with few types, since it has to have room for records: others follow when they are first used. */
  #contentsFor(entry: Entry): Contents {
    const { source, type } = entry
    const { schemaTypes, own, writerId, process } = this.#context
    const isKnown = schemaTypes.some(({ fingerprint }) => fingerprint === type.fingerprint)
    const types = isKnown ? schemaTypes : [...schemaTypes, type]
    const client = entry.page?.client ?? this.#clients.get(source) ?? 0n
    return new Contents({ source, types, client, own, writerId, entry: process })
  }

  #place(): Place {
    const { dataRoot, nowUs } = this.#context.config
    const timeUs = Math.max(0, Math.floor(nowUs()))
    return { folder: sourceFolder(dataRoot, this.id, timeUs), nameAt: (us) => fileName(this.tag, us), timeUs }
  }

  /** Closes the file of a source, where it has one. */
  async #end(source: SourceInfo): Promise<void> {
    const file = this.#files.get(source)
    if (file === undefined) return
    const context = this.#context
    this.#files.delete(source)
    this.#changed.delete(file)
    const ended = file.end({ isSynced: context.config.durability !== 'none' }).finally(() => context.forget(file))
    // What was flushed must be on the disk by then; otherwise nobody needs to wait for it.
    if (context.config.durability === 'block') await ended.catch((error) => context.failUnsynced(error))
    else context.behind(ended)
    await context.few()
  }

  /** Has the disk take what this round wrote. */
  async #sync(): Promise<void> {
    for (const file of this.#changed) {
      try {
        await file.sync()
      } catch (error) {
        this.#context.failUnsynced(error)
      }
    }
  }

  /** Whether the page that an entry came in is in a file already. At the first page of a client that is looked up. */
  async #isWritten({ page }: Entry): Promise<boolean> {
    if (page === undefined) return false
    const known = this.#lastPages.get(page.client)
    if (known !== undefined) return page.sequence <= known
    const { config } = this.#context
    const last = await lastPageOf(config.dataRoot, this, page.client).catch((error) => {
      this.#context.fail(error)
      return 0n
    })
    this.#remember({ client: page.client, sequence: last })
    return page.sequence <= last
  }

  #remember({ client, sequence }: PageId): void {
    this.#lastPages.delete(client)
    this.#lastPages.set(client, sequence)
    if (this.#lastPages.size <= CLIENT_COUNT_LIMIT) return
    for (const oldest of this.#lastPages.keys()) {
      this.#lastPages.delete(oldest)
      return
    }
  }

  #wait(entry: Entry): void {
    this.#pending.add(entry)
    this.#context.queue(entry)
  }

  #done(entry: Entry): void {
    if (this.#pending.delete(entry)) this.#context.done(entry)
  }

  #drop(reason: FilesDropReason, entry: Entry): void {
    if (!this.#pending.delete(entry)) return
    this.#context.drop(reason, entry)
    if (entry.counted === 0) this.#losses.tellAgain(entry.source)
    else this.#losses.add(reason, entry.counted, entry.source)
    // What the files have is asked for again, so that the page can still come.
    if (entry.page !== undefined) this.#lastPages.delete(entry.page.client)
  }

  #lossEntry(source: SourceInfo): Entry {
    const entry = this.#losses.tell(this.#context, source)
    this.#wait(entry)
    return entry
  }

  #writeNow(entry: Entry): void {
    const { config } = this.#context
    const last = entry.page === undefined ? undefined : this.#lastPages.get(entry.page.client)
    if (entry.page !== undefined && last !== undefined && entry.page.sequence <= last) {
      this.#context.stats.duplicates += entry.counted
      this.#done(entry)
      return
    }
    try {
      let file = this.#files.get(entry.source)
      let before = file?.contents.before(entry) ?? []
      if (file === undefined || !this.#hasRoom(file, entry, before, 0)) {
        const contents = this.#contentsFor(entry)
        file = RecordFile.createNow(this.#place(), contents, config.nowMs())
        this.#files.set(entry.source, file)
        before = contents.before(entry)
      }
      file.appendNow([...before, file.contents.seal(entry)])
      file.recordBlocks++
      this.#done(entry)
    } catch (error) {
      this.#context.fail(error)
      this.#files.delete(entry.source)
      this.#drop(reasonOf(error), entry)
    }
  }
}

function isFull({ bytes, blocks }: Chunk): boolean {
  return bytes >= CHUNK_BYTES || blocks.length >= CHUNK_BLOCKS
}

function push(chunk: Chunk, block: Uint8Array, entry?: Entry): void {
  chunk.blocks.push(block)
  chunk.entries.push(entry)
  chunk.bytes += block.byteLength
}
