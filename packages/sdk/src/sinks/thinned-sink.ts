import { backgroundTimers, type Timers } from '../internal/timers.ts'
import { turn } from '../internal/turn.ts'
import type { Batch, SourceInfo } from '../schema/batch.ts'
import { absenceType } from '../schema/builtin.ts'
import { readRecords } from '../schema/reader.ts'
import type { RecordType } from '../schema/record-type.ts'
import { viewsOf } from '../schema/views.ts'
import { countDrop, FAILED, type Sink, type SinkStats } from '../sink/sink.ts'
import { LastRecords } from './last-records.ts'

/** Memory for records that wait for the end of an interval. If it is full, they are passed on early. */
const HELD_LIMIT_BYTES = 64 << 20

/**
 * Passes on the last record of each series in each interval. Counters stay exact, because their records have totals.
 * The other records are counted in `thinned`; they are no drops. The intervals start with the first record of the
 * process, so the agents of a cluster do not send at the same moment.
 *
 * Some records do not wait for the end of the interval. A record of a type without metrics is an event, and each event
 * counts. The last record of a series goes out when the series is gone, and those of a source when it is retired.
 *
 * No acknowledgement waits for this sink, because it does not get every record. It is not durable and knows no pages.
 */
export class ThinnedSink implements Sink {
  readonly durable = false
  readonly ready?: () => Promise<void> | undefined
  readonly #sink: Sink
  readonly #intervalMs: number
  readonly #timers: Timers
  readonly #held = new Map<SourceInfo, Map<RecordType, LastRecords>>()
  #heldBytes = 0
  /** When the current interval ends, on the clock of the timers; undefined if nothing is held. */
  #endMs: number | undefined
  #cancel: () => void = () => undefined
  #isClosed = false

  /** @param intervalMs Unit: milliseconds. More than 0. */
  constructor(sink: Sink, intervalMs: number, timers: Timers = backgroundTimers) {
    this.#sink = sink
    this.#intervalMs = intervalMs
    this.#timers = timers
    sink.stats.thinned = 0
    if (sink.ready !== undefined) this.ready = () => sink.ready?.()
  }

  get name(): string {
    return this.#sink.name
  }

  get stats(): SinkStats {
    return this.#sink.stats
  }

  get hidden(): ReadonlyMap<string, number> | undefined {
    return this.#sink.hidden
  }

  get queuedRecords(): number | undefined {
    return this.#sink.queuedRecords
  }

  get queuedBytes(): number | undefined {
    return this.#sink.queuedBytes
  }

  get queuedBytesMax(): number | undefined {
    return this.#sink.queuedBytesMax
  }

  get lagS(): number | undefined {
    return this.#sink.lagS
  }

  get failing(): string | undefined {
    return this.#sink.failing
  }

  get fallback(): string | undefined {
    return this.#sink.fallback
  }

  causeOf(reason: string): string {
    return this.#sink.causeOf?.(reason) ?? ''
  }

  accept(batch: Batch): void {
    const { type, bytes, count } = batch
    const isSound = bytes.byteLength === count * type.layout.recordBytes
    if (this.#isClosed || !isSound || type.metrics.size === 0) {
      if (type.fingerprint === absenceType.fingerprint && isSound) this.#passGone(batch)
      const { page: _page, ...rest } = batch
      this.#sink.accept(rest)
      return
    }
    const records = this.#recordsOf(batch)
    if (!records.fits(batch) || this.#heldBytes + bytes.byteLength > HELD_LIMIT_BYTES) this.#pass(records)
    const before = records.heldBytes
    this.#sink.stats.thinned = (this.#sink.stats.thinned ?? 0) + records.put(batch)
    this.#heldBytes += records.heldBytes - before
    this.#arm()
  }

  /** Passes all held records on, and flushes. */
  async flush(): Promise<void> {
    this.#passAll()
    await this.#sink.flush()
  }

  retire(source: SourceInfo): void {
    for (const records of this.#held.get(source)?.values() ?? []) this.#pass(records)
    this.#held.delete(source)
    this.#sink.retire?.(source)
  }

  async close(limitMs?: number): Promise<void> {
    this.#passAll()
    this.#isClosed = true
    this.#cancel()
    await this.#sink.close(limitMs)
  }

  #recordsOf({ source, type }: Batch): LastRecords {
    const types = this.#held.get(source) ?? new Map<RecordType, LastRecords>()
    const records = types.get(type) ?? new LastRecords()
    this.#held.set(source, types.set(type, records))
    return records
  }

  /** Passes on the last records of types with a series that is gone: they come before the absence. */
  #passGone({ source, bytes, count, symbols }: Batch): void {
    const types = this.#held.get(source)
    if (types === undefined) return
    const gone = new Set<string>()
    for (const { type, code } of readRecords(absenceType, viewsOf(bytes), count, symbols))
      if (code === 'gone') gone.add(type)
    for (const [{ name }, records] of types) if (gone.has(name)) this.#pass(records)
  }

  #passAll(): void {
    for (const types of this.#held.values()) for (const records of types.values()) this.#pass(records)
  }

  #pass(records: LastRecords): void {
    const { heldBytes } = records
    const batch = records.take()
    if (batch === undefined) return
    this.#heldBytes -= heldBytes
    const { stats } = this.#sink
    try {
      this.#sink.accept(batch)
    } catch {
      // No caller waits for the result. The counts show the drop.
      stats.errors++
      countDrop(stats, FAILED, batch.count)
    }
  }

  #arm(): void {
    if (this.#endMs !== undefined) return
    this.#endMs = this.#timers.nowMs() + this.#intervalMs
    this.#wait()
  }

  #wait(): void {
    const delayMs = (this.#endMs ?? 0) - this.#timers.nowMs()
    this.#cancel = this.#timers.after(Math.max(1, delayMs), () => void this.#end())
  }

  /** The end of an interval. The next ends one interval later, however late this one was. */
  async #end(): Promise<void> {
    const wasBusy = this.#heldBytes > 0
    for (const [source, types] of this.#held) {
      for (const [type, records] of types) {
        if (turn.isOver()) await turn.next()
        if (records.count === 0) types.delete(type)
        else this.#pass(records)
      }
      if (types.size === 0) this.#held.delete(source)
    }
    if (this.#isClosed) return
    const nowMs = this.#timers.nowMs()
    const lateMs = Math.max(0, nowMs - (this.#endMs ?? nowMs))
    this.#endMs = wasBusy || this.#heldBytes > 0 ? nowMs + this.#intervalMs - (lateMs % this.#intervalMs) : undefined
    if (this.#endMs !== undefined) this.#wait()
  }
}
