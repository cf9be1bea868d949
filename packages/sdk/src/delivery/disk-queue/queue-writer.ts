import { randomBytes } from 'node:crypto'
import { BlockMemory } from '../../disk/block-memory.ts'
import type { Disk } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import { RecordFile } from '../../disk/record-file.ts'
import { SondeError } from '../../errors.ts'
import type { Batch, PageId } from '../../schema/batch.ts'
import { type AppendResult, entryBytes } from '../queue.ts'
import { writeLateFile } from './late-file.ts'
import type { QueuePages } from './queue-pages.ts'
import { newSegment, type QueueSegment, segmentPath } from './segment.ts'
import { SegmentPlan } from './segment-plan.ts'

/** Memory for batches that are not written yet. Unit: bytes. */
export const UNWRITTEN_BYTES_LIMIT = 8 << 20
/** Size of one write. Unit: bytes. */
const WRITE_BYTES = 1 << 20
/** Blocks that the system takes with one call. */
const WRITE_BLOCK_COUNT = 512
/** After a failed write, how long none is tried. Unit: milliseconds. */
const RETRY_MS = 1000

/** A batch that is not written yet. */
interface Unwritten {
  readonly plan: SegmentPlan
  readonly blocks: readonly Uint8Array[]
  readonly count: number
  readonly bytes: number
  readonly page: PageId | undefined
  readonly done: PromiseWithResolvers<AppendResult>
}

/** Values and callbacks of the queue that uses the writer. */
export interface QueueWriterParts {
  readonly disk: Disk
  readonly folder: string
  readonly name: string
  readonly segmentBytes: number
  readonly pages: QueuePages
  readonly nowMs: () => number
  /** Resolves when files may be written; rejects if they never may. */
  readonly opened: () => Promise<void>
  /** A segment was made; its records follow. Returns its first ordinal. */
  readonly next: () => number
  readonly onSegment: (segment: QueueSegment) => void
  /** A segment takes no more records. */
  readonly onClosed: (segment: QueueSegment, lastPages: ReadonlyMap<bigint, bigint>) => Promise<void>
  readonly onWritten: (segment: QueueSegment, records: number, bytes: number) => void
  readonly onFault: (error: unknown) => void
}

/** Writes batches to the newest segment of a queue, in order. */
export class QueueWriter {
  unwrittenRecords = 0
  unwrittenBytes = 0
  readonly #parts: QueueWriterParts
  readonly #writerId = randomBytes(8).readBigUInt64LE()
  readonly #waiting: Unwritten[] = []
  /** What waits at most is what is kept: a burst finds the memory of the burst before. */
  readonly #memory = new BlockMemory(UNWRITTEN_BYTES_LIMIT)
  /** Batches that were handed to the disk. */
  #underWay: readonly Unwritten[] = []
  #isGivenUp = false
  /** The plan of the next batch. */
  #plan: SegmentPlan | undefined
  /** The plan whose file is open, and the last pages in it. */
  #current: SegmentPlan | undefined
  #currentPages = new Map<bigint, bigint>()
  #running: Promise<void> | undefined
  #progress = Promise.withResolvers<void>()
  #trouble: { readonly untilMs: number; readonly error: unknown } | undefined

  constructor(parts: QueueWriterParts) {
    this.#parts = parts
  }

  /** The segment that is being written. */
  get segment(): QueueSegment | undefined {
    return this.#current?.made?.segment
  }

  /** Resolves when something was written, or could not be. */
  get progress(): Promise<void> {
    return this.#progress.promise
  }

  /** Encodes a batch at once, and resolves when it is written. */
  append(batch: Batch): Promise<AppendResult> {
    const { folder, name, segmentBytes, nowMs } = this.#parts
    if (this.#trouble !== undefined && nowMs() < this.#trouble.untilMs) return Promise.reject(this.#trouble.error)
    const bytes = entryBytes(batch)
    if (this.unwrittenBytes > 0 && this.unwrittenBytes + bytes > UNWRITTEN_BYTES_LIMIT)
      return Promise.reject(
        new SondeError(
          'QUE_SLOW',
          `the disk of ${folder} is slower than the records; ${UNWRITTEN_BYTES_LIMIT} bytes wait`,
        ),
      )
    if (this.#plan?.takes(batch, segmentBytes) !== true)
      this.#plan = new SegmentPlan(name, this.#writerId, this.#memory)
    const { count, page } = batch
    const done = Promise.withResolvers<AppendResult>()
    this.#waiting.push({ plan: this.#plan, blocks: this.#plan.encode(batch), count, bytes, page, done })
    this.unwrittenRecords += count
    this.unwrittenBytes += bytes
    this.#running ??= this.#run()
    return done.promise
  }

  /** Ends the newest segment, so that it can be removed. Later batches go to another segment. */
  async roll(): Promise<void> {
    this.#plan = undefined
    await this.#running
    if (this.#plan === undefined && this.#running === undefined) await this.#alone(() => this.#close())
  }

  /** Has the disk take what was written. */
  async sync(): Promise<void> {
    const file = this.#current?.made?.file
    if (file?.isDirty === true) await file.sync()
  }

  /** Writes what waits, and closes the file. */
  async close(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    await this.#alone(() => this.#close())
    this.moved()
  }

  /**
   * Refuses the batches that the disk has not taken: it did not answer before the queue had to close. Nothing may be
   * appended afterwards: a hanging call may still read the memory of a batch.
   */
  giveUp(): void {
    const { folder } = this.#parts
    this.#isGivenUp = true
    this.#refuse(
      [...this.#underWay, ...this.#waiting.splice(0)],
      new SondeError('QUE_SLOW', `the disk of ${folder} did not answer`),
    )
    this.moved()
  }

  /**
   * Writes what waits, for a process that ends and cannot wait. Records whose segment is not there yet get a file of
   * their own, because a call that makes the segment may be in progress.
   */
  finishNow(): void {
    if (this.#isGivenUp) return
    const waiting = [...this.#underWay, ...this.#waiting.splice(0)]
    for (const plan of new Set(waiting.map((each) => each.plan))) {
      const own = waiting.filter((each) => each.plan === plan)
      try {
        if (plan.failed !== undefined) throw plan.failed
        this.#finishPlan(plan, own)
        for (const each of own) this.#leave(each)
      } catch (error) {
        this.#parts.onFault(error)
        this.#refuse(own, error)
      }
    }
  }

  #finishPlan(plan: SegmentPlan, waiting: readonly Unwritten[]): void {
    const { folder, pages } = this.#parts
    const { file } = plan.made ?? {}
    // The file repeats the blocks that it is writing.
    const isWriting = file !== undefined && file.underWay.length > 0
    const left = isWriting ? waiting.filter((each) => !this.#underWay.includes(each)) : waiting
    const blocks = left.flatMap(({ page, blocks: own }) =>
      page !== undefined && pages.has(page) ? own.slice(0, -1) : own,
    )
    if (file !== undefined) file.appendNow([...plan.takeBeginning(), ...blocks])
    else {
      plan.begin(Date.now() * 1000)
      writeLateFile(folder, [...plan.takeBeginning(), ...blocks], Date.now() * 1000)
    }
  }

  /** Something changed for those that wait for {@link progress}. */
  moved(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers()
  }

  #alone(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error: unknown) => this.#parts.onFault(error))
      .finally(() => {
        this.#running = this.#waiting.length > 0 ? this.#run() : undefined
      })
    this.#running = running
    return running
  }

  async #run(): Promise<void> {
    // Batches of the same turn are written with one call.
    await undefined
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup()
      this.#underWay = group
      try {
        await this.#parts.opened()
        await this.#write(group)
      } catch (error) {
        if (!this.#isGivenUp) this.#fail(group, error)
      }
      this.#underWay = []
      this.moved()
    }
    this.#running = undefined
  }

  /** Batches of one segment that are written with one call. */
  #takeGroup(): Unwritten[] {
    const group: Unwritten[] = []
    let [bytes, blocks] = [0, 0]
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      bytes += next.bytes
      blocks += next.blocks.length
      const isFull = bytes > WRITE_BYTES || blocks > WRITE_BLOCK_COUNT || next.plan !== group[0]?.plan
      if (group.length > 0 && isFull) break
      group.push(next)
      this.#waiting.shift()
    }
    return group
  }

  async #write(group: readonly Unwritten[]): Promise<void> {
    const { pages, onWritten } = this.#parts
    const plan = group[0]?.plan
    if (plan === undefined) return
    if (plan.failed !== undefined) throw plan.failed
    const { file, segment } = await this.#fileOf(plan)
    const blocks = [...plan.takeBeginning()]
    const ends: number[] = []
    const repeated = new Set<Unwritten>()
    for (const each of group) {
      if (each.page !== undefined && pages.has(each.page)) repeated.add(each)
      else if (each.page !== undefined) pages.begin(each.page)
      // Later batches refer to the texts of a page that is left out.
      for (const block of repeated.has(each) ? each.blocks.slice(0, -1) : each.blocks) blocks.push(block)
      ends.push(blocks.length)
    }
    const before = file.bytes
    const { written, error } = await file.append(blocks)
    if (this.#isGivenUp) return
    const kept = group.filter((_, index) => (ends[index] ?? 0) <= written)
    const records = kept.reduce((sum, each) => sum + (repeated.has(each) ? 0 : each.count), 0)
    file.recordBlocks += kept.length
    onWritten(segment, records, file.bytes - before)
    for (const each of kept) this.#keep(each, repeated.has(each))
    if (error === undefined) this.#trouble = undefined
    else this.#fail(group.slice(kept.length), error)
  }

  #keep(each: Unwritten, isRepeated: boolean): void {
    this.#leave(each)
    if (each.page !== undefined && !isRepeated) {
      this.#parts.pages.written(each.page)
      this.#currentPages.set(each.page.client, each.page.sequence)
    }
    each.done.resolve(isRepeated ? 'duplicate' : 'kept')
  }

  /** What follows in the file would refer to texts that are not there: its plan is given up. */
  #fail(group: readonly Unwritten[], error: unknown): void {
    const { nowMs, onFault } = this.#parts
    for (const { plan } of group) {
      if (plan.failed === undefined) onFault(error)
      plan.failed ??= error
      if (this.#plan === plan) this.#plan = undefined
    }
    this.#trouble = { untilMs: nowMs() + RETRY_MS, error }
    this.#refuse(group, error)
  }

  #refuse(group: readonly Unwritten[], error: unknown): void {
    const { pages } = this.#parts
    for (const each of group) {
      if (each.page !== undefined) pages.forget(each.page)
      this.#leave(each)
      each.done.reject(error)
    }
  }

  #leave({ count, bytes, blocks }: Unwritten): void {
    // The last block has the records; those before are texts of their own memory.
    const block = blocks.at(-1)
    if (block !== undefined) this.#memory.release(block)
    this.unwrittenRecords -= count
    this.unwrittenBytes -= bytes
  }

  async #fileOf(plan: SegmentPlan): Promise<NonNullable<SegmentPlan['made']>> {
    if (plan.made !== undefined) return plan.made
    await this.#close()
    const { disk, folder, nowMs, next, onSegment } = this.#parts
    const first = next()
    const path = segmentPath(folder, first)
    // A file that was set aside in vain, or of a write that failed.
    await disk.unlink(path).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error
    })
    const place = { disk, root: folder, folder, nameAt: () => path.slice(folder.length + 1), timeUs: Date.now() * 1000 }
    const [file] = await RecordFile.create(place, plan, nowMs())
    const madeMs = nowMs()
    const segment = newSegment({ path, first, end: first, bytes: 0, madeMs, isOpen: true })
    plan.made = { file, segment }
    this.#current = plan
    onSegment(segment)
    return plan.made
  }

  /** Ends the file of the newest segment; one without records is removed. */
  async #close(): Promise<void> {
    const { made } = this.#current ?? {}
    const pages = this.#currentPages
    this.#current = undefined
    this.#currentPages = new Map()
    if (made === undefined) return
    const { file, segment } = made
    segment.isOpen = false
    try {
      await this.#parts.onClosed(segment, pages)
      await (segment.end === segment.first ? file.remove() : file.end({ isSynced: true }))
    } catch (error) {
      // Its records are there; the next segment can be written all the same.
      this.#parts.onFault(error)
    }
  }
}
