import type { Disk } from '../../disk/disk.ts'
import { SondeError } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import type { QueueSegment } from './segment.ts'
import { type ReadBatch, SegmentReader } from './segment-reader.ts'

/** What {@link QueueReader.next} came upon. */
export type QueueStep =
  | { readonly kind: 'batch'; readonly ordinal: number; readonly batch: Batch; readonly segment: QueueSegment }
  /** Records that cannot be read. */
  | { readonly kind: 'unreadable'; readonly records: number; readonly words: string }
  /** Everything that is written was read. */
  | { readonly kind: 'end' }

/** Reads the segments of a queue in order, each batch once. */
export class QueueReader {
  /** Ordinal of the next record. */
  ordinal = 0
  readonly #disk: Disk
  readonly #segments: readonly QueueSegment[]
  readonly #onFault: (error: unknown) => void
  #reader: SegmentReader | undefined
  #segment: QueueSegment | undefined
  /** The next batch, which was read behind damaged blocks. */
  #held: ReadBatch | undefined

  /** @param segments All segments with unread records, the oldest first; it changes while the queue is used. */
  constructor(disk: Disk, segments: readonly QueueSegment[], onFault: (error: unknown) => void) {
    this.#disk = disk
    this.#segments = segments
    this.#onFault = onFault
  }

  /** The segment that is being read. */
  get segment(): QueueSegment | undefined {
    return this.#segment
  }

  /** Leaves out all records below an ordinal. */
  skipTo(ordinal: number): void {
    this.ordinal = Math.max(this.ordinal, ordinal)
    if (this.#segment !== undefined && this.#segment.end <= this.ordinal && !this.#segment.isOpen) this.close()
  }

  /** Reads the next batch. Calls must not overlap; `skipTo` may be called meanwhile. */
  async next(): Promise<QueueStep> {
    for (;;) {
      const segment = this.#segments.find(({ end, isOpen }) => end > this.ordinal || isOpen)
      if (segment === undefined) return { kind: 'end' }
      if (segment.first > this.ordinal) return this.#lose(segment.first, `a file before ${segment.path} is missing`)
      if (segment.end <= this.ordinal) return { kind: 'end' }
      const reader = this.#readerOf(segment)
      const read = this.#held ?? (await reader.next(segment.bytes))
      // It was skipped meanwhile.
      if (this.#reader !== reader) continue
      this.#held = undefined
      segment.unreadBytes = Math.max(0, segment.bytes - reader.at)
      if (read === undefined) {
        if (segment.isOpen) return { kind: 'end' }
        const { fault } = reader
        segment.isForeign = reader.readRecords === 0
        this.close()
        return this.#lose(segment.end, `${segment.path}: ${fault?.message ?? 'it ends too early'}`)
      }
      const ordinal = segment.first + read.before
      if (ordinal > this.ordinal) {
        this.#held = read
        return this.#lose(
          Math.min(ordinal, segment.end),
          `${segment.path}: ${reader.fault?.message ?? 'records are missing'}`,
        )
      }
      const batch = part(read.batch, this.ordinal - ordinal, segment.end - ordinal)
      if (batch === undefined) continue
      const first = Math.max(ordinal, this.ordinal)
      this.ordinal = first + batch.count
      if (this.ordinal === segment.end && !segment.isOpen)
        await this.#reportOverlap(segment, reader, ordinal + read.batch.count - segment.end)
      return { kind: 'batch', ordinal: first, batch, segment }
    }
  }

  /** Closes the open file. */
  close(): void {
    void this.#reader?.close().catch(this.#onFault)
    this.#reader = undefined
    this.#segment = undefined
    this.#held = undefined
  }

  #readerOf(segment: QueueSegment): SegmentReader {
    if (this.#segment === segment && this.#reader !== undefined) return this.#reader
    this.close()
    this.#segment = segment
    this.#reader = new SegmentReader(this.#disk, segment.path)
    return this.#reader
  }

  /** Records behind the beginning of the next file: somebody renamed a file. They have no place in the queue. */
  async #reportOverlap({ path, bytes }: QueueSegment, reader: SegmentReader, cutRecords: number): Promise<void> {
    let records = cutRecords
    for (let read = await reader.next(bytes); read !== undefined; read = await reader.next(bytes))
      records += read.batch.count
    if (records === 0) return
    const words = `the last ${records} records of ${path} overlap the next file, and are not sent; was a file renamed?`
    this.#onFault(new SondeError('QUE_DAMAGED', words))
  }

  #lose(to: number, words: string): QueueStep {
    const records = to - this.ordinal
    this.ordinal = to
    return { kind: 'unreadable', records, words }
  }
}

/** The records of a batch from one to another; undefined if there are none. */
function part(batch: Batch, from: number, to: number): Batch | undefined {
  const [first, end] = [Math.max(0, from), Math.min(batch.count, to)]
  if (first >= end) return undefined
  if (first === 0 && end === batch.count) return batch
  const { recordBytes } = batch.type.layout
  return { ...batch, count: end - first, bytes: batch.bytes.subarray(first * recordBytes, end * recordBytes) }
}
