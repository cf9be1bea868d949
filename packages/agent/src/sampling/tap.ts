import { type RecordType, SondeError } from '@sonde/sdk'
import { allocateViews } from '@sonde/sdk/internal'
import type { SampleRing } from '../sources/source.ts'

/** A window that was cut out of a ring. */
export interface CutWindow {
  readonly type: RecordType
  /** Packed records, in the order in which they were sampled. Their times are of the monotonic clock. */
  readonly bytes: Uint8Array
  readonly count: number
  /** Records that the limit left out, the oldest of the window. */
  readonly leftOut: number
}

/** Looks at samples as they come. */
export interface TapWatcher {
  /** Number of earlier samples that must stay in the ring until the tap has read them. */
  readonly reachSamples: number
  /** New samples in the ring: from `first` to before `end`, numbered from the first sample ever. */
  take(first: number, end: number): void
  /** Samples do not come any more. */
  lose(): void
}

/**
 * A ring of samples, in packed records whose time is the host's monotonic clock. Its memory is taken at the start; the
 * oldest samples leave when it is full.
 */
export class Tap implements SampleRing {
  readonly type: RecordType
  /** Number of samples so far. */
  total = 0
  /** How far times of the last samples are off, beside the error of their clock. Unit: nanoseconds. */
  aheadNs = 0n
  #watcher: TapWatcher | undefined
  /** Samples that it holds at most. */
  readonly capacity: number
  readonly #recordBytes: number
  readonly #timeAt: number
  readonly #views: ReturnType<typeof allocateViews>

  /**
   * @param records Samples that it holds. Range: 1 to 10 000 000.
   * @throws SondeError `AGT_TAP` if the type has no time in nanoseconds, or for a number out of range.
   */
  constructor(type: RecordType, records: number) {
    const { time, layout } = type
    if (time === undefined || time.field.resolution === 'us')
      throw new SondeError('AGT_TAP', `a ring of ${type.name}, which has no time; allowed: types with a time in ns`)
    if (!Number.isInteger(records) || records < 1 || records > 10_000_000)
      throw new SondeError('AGT_TAP', `a ring of ${records} ${type.name}; allowed: 1 to 10000000`)
    this.type = type
    this.capacity = records
    this.#recordBytes = layout.recordBytes
    this.#timeAt = time.offset
    this.#views = allocateViews(records * layout.recordBytes)
  }

  get isWatched(): boolean {
    return this.#watcher !== undefined
  }

  /** Its memory. Unit: bytes. */
  get byteLength(): number {
    return this.capacity * this.#recordBytes
  }

  /** Samples that it holds. */
  get count(): number {
    return Math.min(this.total, this.capacity)
  }

  /** Its memory as words: sample `s` lies at word `(s % capacity) * strideWords`. */
  get ring(): { readonly words: Uint32Array; readonly strideWords: number; readonly capacity: number } {
    const { bytes } = this.#views
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
    return { words, strideWords: this.#recordBytes >>> 2, capacity: this.capacity }
  }

  /**
   * Has each sample looked at from now on, in place of whoever looked before.
   *
   * @throws SondeError `AGT_TAP` as {@link checkReach} does.
   */
  watch(watcher: TapWatcher | undefined): void {
    this.checkReach(watcher)
    this.#watcher = watcher
  }

  /** @throws SondeError `AGT_TAP` if a watcher looks further back than the ring reaches. */
  checkReach(watcher: TapWatcher | undefined): void {
    if (watcher === undefined || watcher.reachSamples < this.capacity) return
    const what = `rules that look ${watcher.reachSamples} samples back in a ring of ${this.capacity} ${this.type.name}`
    throw new SondeError('AGT_TAP', `${what}; allowed: fewer than it holds. Keep more, as with ring_ms`)
  }

  /** Times of the oldest and the newest sample; 0 without any. Unit: nanoseconds. */
  span(): readonly [oldestMonoNs: bigint, newestMonoNs: bigint] {
    if (this.total === 0) return [0n, 0n]
    return [this.timeOf(this.total - this.count), this.timeOf(this.total - 1)]
  }

  /** Takes packed samples, in the order of their times, none older than one that it has. */
  put(bytes: Uint8Array, aheadNs = 0n): void {
    this.aheadNs = aheadNs
    const size = this.#recordBytes
    const count = bytes.byteLength / size
    if (!Number.isInteger(count))
      throw new SondeError('SRC_BYTES', `${bytes.byteLength} bytes for records of ${size} bytes each`)
    // More at a time would take the place of samples that are still to be compared with.
    const roomSamples = this.capacity - (this.#watcher?.reachSamples ?? 0)
    for (let done = this.#watcher === undefined ? Math.max(0, count - this.capacity) : 0; done < count; ) {
      const piece = Math.min(count - done, roomSamples)
      this.#copy(bytes.subarray(done * size, (done + piece) * size), this.total + done, piece)
      this.#watcher?.take(this.total + done, this.total + done + piece)
      done += piece
    }
    this.total += count
  }

  lose(): void {
    this.#watcher?.lose()
  }

  /** The time of a sample that it holds. Unit: nanoseconds. */
  timeOf(sample: number): bigint {
    return this.#views.data.getBigUint64((sample % this.capacity) * this.#recordBytes + this.#timeAt, true)
  }

  #copy(bytes: Uint8Array, first: number, count: number): void {
    const size = this.#recordBytes
    for (let done = 0; done < count; ) {
      const at = (first + done) % this.capacity
      const part = Math.min(count - done, this.capacity - at)
      this.#views.bytes.set(bytes.subarray(done * size, (done + part) * size), at * size)
      done += part
    }
  }

  /** A copy of the samples from a time on, up to one before another. Of more than `bytesMax` the latest are kept. */
  cut(fromMonoNs: bigint, toMonoNs: bigint, bytesMax: number): CutWindow {
    const first = this.#firstFrom(fromMonoNs)
    const end = this.#firstFrom(toMonoNs)
    const wanted = Math.max(0, end - first)
    const count = Math.min(wanted, Math.floor(bytesMax / this.#recordBytes))
    const bytes = new Uint8Array(count * this.#recordBytes)
    for (let done = 0; done < count; ) {
      const at = (end - count + done) % this.capacity
      const part = Math.min(count - done, this.capacity - at)
      const piece = this.#views.bytes.subarray(at * this.#recordBytes, (at + part) * this.#recordBytes)
      bytes.set(piece, done * this.#recordBytes)
      done += part
    }
    return { type: this.type, bytes, count, leftOut: wanted - count }
  }

  /** Number of the first sample, counted from the first that it was ever given, that is not before a time. */
  #firstFrom(monoNs: bigint): number {
    let low = this.total - this.count
    let high = this.total
    while (low < high) {
      const middle = low + ((high - low) >> 1)
      if (this.timeOf(middle) < monoNs) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Moves the times of packed records, in place, from one clock to another. Unit: nanoseconds. */
export function shiftTimes({ type, bytes, count }: CutWindow, offsetNs: bigint): void {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let index = 0; index < count; index++) {
    const at = index * type.layout.recordBytes + (type.time?.offset ?? 0)
    data.setBigUint64(at, data.getBigUint64(at, true) + offsetNs, true)
  }
}
