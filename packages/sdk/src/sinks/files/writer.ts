import type { SourceInfo } from '../../schema/batch.ts'
import type { BlockEntry } from './blocks.ts'
import { Chunk } from './chunk.ts'
import type { FilesContext } from './context.ts'
import { Losses } from './losses.ts'
import { lastPageOf } from './pages.ts'
import { type FilesDropReason, filesDropReason } from './reasons.ts'
import { SourceFiles } from './source-files.ts'
import { WrittenPages } from './written-pages.ts'

/** Period of the checks for removed files. Unit: milliseconds. */
const LOOK_EVERY_MS = 10_000

/**
 * Writes the records of the sources of one id and tag in the order of acceptance, to one file at a time a source.
 * Sources of equal name share a file, so that the pages of a client are written in order.
 */
export class SourceWriter {
  readonly #context: FilesContext
  readonly #files: SourceFiles
  readonly #pages: WrittenPages
  readonly #losses = new Losses()
  /** Added entries that are neither written nor dropped, in order. */
  readonly #pending = new Set<BlockEntry>()
  #queued: BlockEntry[] = []
  #queuedDone = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #usedMs: number

  constructor(context: FilesContext, id: string, tag: string) {
    this.#context = context
    this.#files = new SourceFiles(context, id, tag)
    this.#usedMs = context.config.nowMs()
    const { dataRoot } = context.config
    this.#pages = new WrittenPages((client) =>
      lastPageOf(context.disk, dataRoot, { id, tag }, client).catch((error) => {
        context.fail(error)
        return 0n
      }),
    )
  }

  /** Whether nothing is open, waits, or has to be reported. */
  get isIdle(): boolean {
    return this.#files.count === 0 && this.#running === undefined && this.#losses.unreported === undefined
  }

  add(entry: BlockEntry): void {
    if (entry.page !== undefined) this.#files.noteClient(entry.source, entry.page.client)
    this.#wait(entry)
    this.#queued.push(entry)
    this.#start()
  }

  /** Counts records that were never queued. */
  count(reason: FilesDropReason, records: number, source: SourceInfo): void {
    this.#context.count(reason, records)
    this.#losses.add(reason, records, source)
    this.#usedMs = this.#context.config.nowMs()
  }

  /** Resolves when everything added so far is written or dropped. */
  settled(): Promise<void> | undefined {
    return this.#queued.length > 0 ? this.#queuedDone.promise : this.#running
  }

  /**
   * Closes files that are old, idle or removed. A source that ended without a file gets a file for its losses.
   */
  async closeOld(nowMs: number): Promise<void> {
    const { maxAgeUs, idleS } = this.#context.config
    for (const [source, file] of this.#files.entries()) {
      const idleMs = Math.max(idleS * 1000, 3 * this.#context.periods.longestOf(source))
      if (nowMs - file.seenMs >= LOOK_EVERY_MS) await file.look(nowMs)
      const isOld = (nowMs - file.madeMs) * 1000 >= maxAgeUs || nowMs - file.usedMs >= idleMs || file.isGone
      if (this.#running !== undefined) return
      if (isOld) await this.#alone(() => this.#files.end(source).then(() => this.#files.sync()))
    }
    if (this.#files.count > 0 || this.#running !== undefined || nowMs - this.#usedMs < idleS * 1000) return
    await this.#alone(() => this.#tellLast())
  }

  /** Writes everything, tells what was lost, and closes the files. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    await this.#alone(() => this.#tellLast())
  }

  /**
   * Writes what is queued at once, since the process ends and waits for nothing. What is under way is written again, to
   * the same place.
   */
  finishNow(): void {
    const underWay = new Set<Uint8Array>()
    for (const [, file] of this.#files.entries()) {
      for (const block of file.underWay) underWay.add(block)
      this.#attempt(() => file.appendNow([]))
    }
    for (const entry of [...this.#pending]) {
      if (underWay.has(entry.block)) this.#done(entry)
      else if (entry.page !== undefined && this.#pages.hasNow(entry.page)) this.#duplicate(entry)
      else if (!this.#attempt(() => this.#writeNow(entry))) this.#drop('failed', entry)
    }
    for (const [, file] of this.#files.entries()) this.#attempt(() => file.endNow())
    this.#queued = []
  }

  #start(): void {
    if (this.#running === undefined) void this.#alone(() => this.#run())
  }

  /** Runs one action at a time; later actions wait. Never rejects. */
  #alone(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error: unknown) => this.#context.fail(error))
      .finally(() => {
        this.#running = undefined
        if (this.#queued.length > 0) this.#start()
      })
    this.#running = running
    return running
  }

  async #run(): Promise<void> {
    // Entries of the same turn are written with one call.
    await undefined
    while (this.#queued.length > 0) {
      const group = this.#queued
      const done = this.#queuedDone
      this.#queued = []
      this.#queuedDone = Promise.withResolvers()
      this.#usedMs = this.#context.config.nowMs()
      if (this.#losses.unreported !== undefined) group.unshift(this.#lossEntry(this.#losses.unreported))
      try {
        await this.#write(group)
        if (this.#context.config.durability === 'block') await this.#files.sync()
      } catch (error) {
        this.#context.fail(error)
        for (const entry of group) this.#drop('failed', entry)
      }
      done.resolve()
    }
  }

  async #write(group: readonly BlockEntry[]): Promise<void> {
    let chunk: Chunk | undefined
    for (const entry of group) {
      if (entry.page !== undefined && (await this.#pages.has(entry.page))) this.#duplicate(entry)
      // One that the end of the process has written meanwhile is not pending either.
      if (!this.#pending.has(entry)) continue
      if (chunk !== undefined && (chunk.file !== this.#files.of(entry.source) || chunk.isFull)) {
        await this.#commit(chunk)
        chunk = undefined
      }
      let file = this.#files.of(entry.source)
      let before = file?.contents.before(entry) ?? []
      if (file === undefined || !this.#files.hasRoom(file, entry, before, chunk?.bytes ?? 0)) {
        if (chunk !== undefined) {
          chunk.end()
          this.#files.openAhead(entry)
          await this.#commit(chunk)
          chunk = undefined
        }
        file = await this.#files.open(entry).catch((error: unknown) => this.#drop(filesDropReason(error), entry))
        if (file === undefined) continue
        before = file.contents.before(entry)
      }
      chunk ??= new Chunk(file)
      for (const block of before) chunk.push(block)
      chunk.push(file.contents.seal(entry), entry)
      if (entry.page !== undefined) this.#pages.begin(entry.page)
    }
    if (chunk !== undefined) await this.#commit(chunk)
  }

  /** Writes a chunk. If a write to a file that was used before fails, it is tried again once in a new file. */
  async #commit(chunk: Chunk): Promise<void> {
    const { file, blocks } = chunk
    const context = this.#context
    context.use(file)
    const { written, error } = await file.append(blocks)
    this.#files.touch(file)
    for (const entry of chunk.entries(0, written)) {
      file.recordBlocks++
      this.#done(entry)
    }
    if (error === undefined) {
      file.isEnded = chunk.endsFile
      context.failing = ''
      return
    }
    context.fail(error)
    const left = chunk.entries(written)
    const isFresh = file.recordBlocks === 0
    for (const { page } of left) if (page !== undefined) this.#pages.forget(page)
    if (left[0] !== undefined) await this.#files.end(left[0].source)
    if (isFresh) for (const entry of left) this.#drop(filesDropReason(error), entry)
    else await this.#write(left)
  }

  #writeNow(entry: BlockEntry): void {
    let file = this.#files.of(entry.source)
    let before = file?.contents.before(entry) ?? []
    if (file === undefined || !this.#files.hasRoom(file, entry, before, 0)) {
      file?.endNow()
      file = this.#files.openNow(entry)
      before = file.contents.before(entry)
    }
    file.appendNow([...before, file.contents.seal(entry)])
    file.recordBlocks++
    this.#done(entry)
  }

  /** Losses that no record follows are reported all the same, if they can be; then the files are closed. */
  async #tellLast(): Promise<void> {
    const source = this.#losses.unreported
    this.#files.forgetTrouble()
    if (source !== undefined) await this.#write([this.#lossEntry(source)])
    this.#losses.giveUp()
    for (const [open] of this.#files.entries()) await this.#files.end(open)
    await this.#files.sync()
  }

  #lossEntry(source: SourceInfo): BlockEntry {
    const entry = this.#losses.report(this.#context, source)
    this.#wait(entry)
    return entry
  }

  #wait(entry: BlockEntry): void {
    this.#pending.add(entry)
    this.#context.queue(entry)
  }

  #done(entry: BlockEntry): void {
    if (!this.#pending.delete(entry)) return
    if (entry.page !== undefined) this.#pages.written(entry.page)
    this.#context.done(entry)
  }

  #duplicate(entry: BlockEntry): void {
    if (!this.#pending.delete(entry)) return
    this.#context.stats.duplicates += entry.counted
    this.#context.done(entry)
  }

  #drop(reason: FilesDropReason, entry: BlockEntry): undefined {
    if (!this.#pending.delete(entry)) return
    this.#context.drop(reason, entry)
    if (entry.page !== undefined) this.#pages.forget(entry.page)
    if (entry.counted === 0) this.#losses.reportAgain(entry.source)
    else this.#losses.add(reason, entry.counted, entry.source)
  }

  /** Whether it went well. */
  #attempt(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      this.#context.fail(error)
      return false
    }
  }
}
