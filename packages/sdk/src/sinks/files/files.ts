import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PageMarks } from '../../disk/page-marks.ts'
import { SondeError } from '../../errors.ts'
import type { Batch, PageId } from '../../schema/batch.ts'
import { forgetExit, type Leaver, watchExit } from '../../sink/at-exit.ts'
import { causeOfBlockedLoop } from '../../sink/backpressure.ts'
import { FlushError, NO_RECORDS } from '../../sink/flush-error.ts'
import type { Sink, SinkStats } from '../../sink/sink.ts'
import { UnreportedDrops } from '../../sink/unreported-drops.ts'
import { DTB_LIMITS } from '../../wire/dtb/format.ts'
import { Compressor } from './compressor.ts'
import { type FilesOptions, filesConfig } from './config.ts'
import { FilesContext } from './context.ts'
import { removeLive } from './live-files.ts'
import { pathName } from './paths.ts'
import type { FilesDropReason } from './reasons.ts'
import { Retention } from './retention.ts'
import { SourceWriter } from './writer.ts'

/** A sink that keeps records in files: see `docs/dtb.md`. */
export interface FilesSink extends Sink {
  readonly durable: true
  /** Accepted records that are neither written nor dropped. */
  readonly queuedRecords: number
  /** Their size. Unit: bytes. */
  readonly queuedBytes: number
  /** The last error, or that the disk has not answered for 5 s; empty after a successful write. */
  readonly failing: string
  takeLost(client: bigint, upTo: bigint): ReadonlyMap<bigint, number>
  lastPage(client: bigint): Promise<bigint>
  skip(page: PageId): void
  /**
   * Resolves when everything accepted before is as safe as the durability says; see {@link FilesOptions}.
   *
   * @throws SondeError `FIL_LOST` if records were dropped since the flush before, or the disk may not have taken
   * them.
   */
  flush(): Promise<void>
}

const TICK_MS = 1000
/** A client that connects waits no longer for a disk that hangs. Unit: milliseconds. */
const LOOK_LIMIT_MS = 1000
const SLOW_DISK =
  'the disk was slower than the reports for longer than queueLimitBytes holds; await source.ready() to wait for it'

/**
 * Makes a sink that writes files of records, one at a time for each source. Nothing is written before the first record.
 *
 * @throws SondeError `FIL_OPTION` if an option is not allowed.
 */
export function createFiles(options: FilesOptions = {}): FilesSink {
  return new Files(options)
}

class Files implements FilesSink {
  readonly name: string
  readonly durable = true
  readonly stats: SinkStats
  readonly #context: FilesContext
  readonly #compressor: Compressor
  readonly #retention: Retention
  readonly #writers = new Map<string, SourceWriter>()
  readonly #leaver: Leaver
  readonly #marks: PageMarks
  #timer: NodeJS.Timeout | undefined
  readonly #unreported: UnreportedDrops
  /** Whether the last refused batches came in one turn of the event loop. */
  #isLoopBlocked = false
  #unsyncedBefore = 0
  #isEnding = false
  #closing: Promise<void> | undefined

  constructor(options: FilesOptions) {
    const config = filesConfig(options)
    this.#context = new FilesContext(config)
    this.#retention = new Retention(this.#context)
    this.#compressor = new Compressor(this.#context, {
      done: (file) => {
        removeLive(file)
        this.#retention.note(file)
        this.#context.behind(this.#retention.run())
      },
      doneOld: () => this.#retention.forgetSizes(),
    })
    this.#context.onEnd = (file) => this.#compressor.take(file)
    this.name = config.name
    this.#marks = new PageMarks(this.#context.disk, join(config.dataRoot, `.pages-${pathName(config.name)}`))
    this.stats = this.#context.stats
    const { stats } = this
    this.#unreported = new UnreportedDrops(stats, (reason) => this.causeOf(reason))
    this.#leaver = {
      finish: () => this.#finishNow(),
      acknowledged: () => this.flush(),
      lost: () => this.#dropsSince().words,
      get records() {
        return stats.in
      },
    }
  }

  get queuedRecords(): number {
    return this.#context.queuedRecords
  }

  get queuedBytes(): number {
    return this.#context.queuedBytes
  }

  get queuedBytesMax(): number {
    return this.#context.config.queueLimitBytes
  }

  get failing(): string {
    const { config, disk, failing, queuedRecords } = this.#context
    return failing !== '' || queuedRecords === 0 ? failing : disk.hanging(config.dataRoot)
  }

  accept(batch: Batch): void {
    const startedMs = performance.now()
    this.stats.in += batch.count
    if (this.#closing !== undefined) this.#context.count('closed', batch.count)
    else if (batch.count > 0) this.#take(batch)
    if (batch.page !== undefined) this.#marks.see(batch.page)
    this.stats.seconds += (performance.now() - startedMs) / 1000
  }

  takeLost(client: bigint, upTo: bigint): ReadonlyMap<bigint, number> {
    return this.#context.losses.take(client, upTo)
  }

  skip(page: PageId): void {
    if (this.#closing === undefined) this.#marks.see(page)
  }

  /** If the disk fails or hangs, the page is unknown: the client sends again, and known pages are skipped. */
  async lastPage(client: bigint): Promise<bigint> {
    try {
      return await Promise.race([this.#marks.lastPage(client), delay(LOOK_LIMIT_MS, 0n, { ref: false })])
    } catch (error) {
      this.#context.fail(error)
      return 0n
    }
  }

  ready(): Promise<void> | undefined {
    return this.#context.backpressure.wait(this.#context.queuedBytes)
  }

  causeOf(reason: string): string {
    if (reason !== 'queue_full') return ''
    return this.#isLoopBlocked ? causeOfBlockedLoop('queueLimitBytes') : SLOW_DISK
  }

  async flush(): Promise<void> {
    const { reported } = this.#unreported
    const unsynced = this.#unsyncedBefore
    const seen = this.#marks.takeSeen()
    await this.#settled()
    const context = this.#context
    this.#unsyncedBefore = context.unsynced
    const { lost, words } = this.#dropsSince(reported)
    if (words !== '') throw new FlushError('FIL_LOST', words, { ...NO_RECORDS, lost })
    if (context.unsynced > unsynced) {
      throw new SondeError('FIL_LOST', `${this.name}: the disk did not take everything that was written${this.#why}`)
    }
    if (seen !== undefined) context.behind(this.#marks.mark(seen))
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  #dropsSince(reported?: UnreportedDrops['reported']): { readonly lost: number; readonly words: string } {
    const { lost, words } = this.#unreported.report(reported)
    return { lost, words: words === '' ? '' : `${this.name} ${words}${this.#why}` }
  }

  /** The last error, as the end of a sentence. */
  get #why(): string {
    const { failing } = this.#context
    return failing === '' ? '' : `: ${failing}`
  }

  async #settled(): Promise<void> {
    await Promise.all([...this.#writers.values()].map((writer) => writer.settled()))
  }

  #take(batch: Batch): void {
    const { id, tag } = batch.source
    const reason = this.#obstacle(batch)
    const writer = this.#writerOf(id, tag)
    if (reason !== undefined) {
      writer.count(reason, batch.count, batch.source)
      this.#context.losses.add(batch.page, batch.count)
    } else {
      this.#context.periods.take(batch)
      writer.add(this.#context.blocks.entryOf(batch))
      if (this.#isEnding) writer.finishNow()
    }
  }

  #obstacle({ bytes, count, type }: Batch): FilesDropReason | undefined {
    if (bytes.byteLength !== count * type.layout.recordBytes) return 'wrong_size'
    if (bytes.byteLength > DTB_LIMITS.payloadBytes) return 'too_large'
    const { queuedBytes, config, backpressure } = this.#context
    backpressure.entering(queuedBytes)
    if (queuedBytes === 0 || queuedBytes + bytes.byteLength <= config.queueLimitBytes) return undefined
    this.#isLoopBlocked = backpressure.isLoopBlocked
    return 'queue_full'
  }

  #writerOf(id: string, tag: string): SourceWriter {
    const key = `${id.length} ${id}${tag}`
    let writer = this.#writers.get(key)
    if (writer === undefined) {
      writer = new SourceWriter(this.#context, id, tag)
      this.#writers.set(key, writer)
      this.#watch()
    }
    return writer
  }

  /** An idle sink does not keep the process alive and needs no exit handler. */
  #watch(): void {
    if (this.#timer !== undefined) return
    const { durability, intervalMs } = this.#context.config
    this.#timer = setInterval(() => this.#tick(), durability === 'interval' ? Math.min(intervalMs, TICK_MS) : TICK_MS)
    this.#timer.unref()
    watchExit(this.#leaver)
    this.#compressor.begin()
    this.#context.behind(this.#retention.run())
  }

  #tick(): void {
    const context = this.#context
    if (context.config.durability === 'interval') context.syncBehind()
    const nowMs = context.config.nowMs()
    for (const [key, writer] of this.#writers) {
      if (writer.isIdle) this.#writers.delete(key)
      else context.behind(writer.closeOld(nowMs))
    }
    context.behind(this.#retention.run())
  }

  /** The process ends, and waits for nothing any more. */
  #finishNow(): void {
    this.#isEnding = true
    for (const writer of this.#writers.values()) writer.finishNow()
  }

  async #shutDown(): Promise<void> {
    clearInterval(this.#timer)
    this.#context.backpressure.open()
    await Promise.all([...this.#writers.values()].map((writer) => writer.close()))
    await this.#context.settled()
    await this.#compressor.close()
    if (this.#context.config.durability === 'interval') this.#context.syncBehind()
    await this.#context.settled()
    await this.#marks.close()
    this.#context.disk.leave()
    forgetExit(this.#leaver)
  }
}
