import { SondeError } from '../errors.ts'
import type { Batch, Clock, SourceInfo } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import { type Encode, encoderOf } from '../schema/encoder.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import { SymbolTable } from '../schema/symbols.ts'
import { allocateViews, type Views } from '../schema/views.ts'
import { countDrop, droppedTotal } from '../sinks/sink.ts'
import { wallNs } from './clock.ts'
import { checkOptions, type SourceOptions } from './options.ts'
import { type Row, Table } from './table.ts'

/** What a source counts of itself. */
export interface SourceLosses {
  /** Records dropped, by reason: `symbol_limit`, a label found the symbol table full. */
  readonly dropped: Map<string, number>
}

interface Buffer {
  readonly type: RecordType
  readonly views: Views
  readonly capacity: number
  readonly encode: Encode
  /** Where in a record the high word of its time is; −1 where it has none, or one of a clock that begins anywhere. */
  readonly timeHighAt: number
  readonly earliestHigh: number
  count: number
}

const LOSS_REPORT_MS = 1000
const LOSS_REPEAT_MS = 60_000

/** High words of 2000-01-01 as a timestamp: what is earlier was not meant to be, as far as real clocks are concerned. */
const EARLIEST_HIGH = { ns: 220_417_231, us: 220_417 }

/**
 * Makes a source: what applications and the agent's own sources report through. A record is encoded once, into the buffer of its type; a full buffer, `flush`
 * and `close` emit it as a batch.
 */
export function createSource(options: SourceOptions): Source {
  return new Source(options)
}

/** See {@link createSource}. Not for `new`: options are checked there. */
export class Source {
  readonly info: SourceInfo
  readonly symbols: SymbolTable
  readonly stats: SourceLosses = { dropped: new Map() }
  readonly #onLoss: SourceOptions['onLoss']
  readonly #emit: (batch: Batch) => void
  readonly #clock: Clock
  readonly #bufferBytes: number
  readonly #rowLimit: number
  readonly #buffers = new Map<RecordType, Buffer>()
  readonly #tables = new Map<RecordType, Table>()
  /** Records dropped that are told already. */
  #toldDrops = 0
  #toldMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: SourceOptions) {
    const { id, tag, labels, intervalMs, symbolLimit, ...rest } = checkOptions(options)
    this.symbols = new SymbolTable(symbolLimit)
    this.info = Object.freeze({ id, tag, labels, symbols: this.symbols, intervalMs })
    this.#emit = rest.emit
    this.#onLoss = rest.onLoss
    this.#clock = rest.clock
    this.#bufferBytes = rest.bufferBytes
    this.#rowLimit = rest.rowLimit
  }

  /**
   * Reports one record. Where one of its labels is new text and the symbol table is full, it is dropped and counted in `stats`.
   *
   * @throws SondeError `SRC_VALUE` where a field is missing or does not fit, where a timestamp of the wall clock is before 2000 (milliseconds given for nanoseconds,
   * say), and where the record has a field that the type has not: this last is looked for in the first record of every batch alone, since it would take as long as the
   * rest together. Nothing of the record is kept then.
   */
  report<T extends RecordType>(type: T, record: RecordOf<T>): void {
    const buffer = this.#bufferOf(type)
    const { views, count } = buffer
    const offset = count * type.layout.recordBytes
    if (!buffer.encode(record as object, views, offset)) {
      this.#drop('symbol_limit')
      return
    }
    if (count === 0) checkNames(type, record as object)
    if (buffer.timeHighAt >= 0 && views.data.getUint32(offset + buffer.timeHighAt, true) < buffer.earliestHigh) {
      refuseTime(type, views.data.getBigUint64(offset + buffer.timeHighAt - 4, true))
    }
    if (++buffer.count === buffer.capacity) this.#send(buffer)
  }

  /** Reports many records. All up to the first wrong one are kept. */
  reportMany<T extends RecordType>(type: T, records: Iterable<RecordOf<T>>): void {
    for (const record of records) this.report(type, record)
  }

  /**
   * Reports records that are packed already. Split at record boundaries where they exceed the buffer.
   *
   * @throws SondeError `SRC_BYTES` unless `bytes` is exactly `count` records long; nothing is kept then.
   */
  reportBytes(type: RecordType, bytes: Uint8Array, count: number): void {
    const { recordBytes } = type.layout
    if (!Number.isInteger(count) || bytes.byteLength !== count * recordBytes) {
      throw new SondeError(
        'SRC_BYTES',
        `${bytes.byteLength} bytes for ${count} records of ${type.name}; they take ${count * recordBytes}`,
      )
    }
    const buffer = this.#bufferOf(type)
    for (let done = 0; done < count; ) {
      const part = Math.min(count - done, buffer.capacity - buffer.count)
      buffer.views.bytes.set(
        bytes.subarray(done * recordBytes, (done + part) * recordBytes),
        buffer.count * recordBytes,
      )
      buffer.count += part
      done += part
      if (buffer.count === buffer.capacity) this.#send(buffer)
    }
  }

  /**
   * The row of a series, for hot paths: look the labels up once, then write numbers. `collect` sends all rows. The same labels, in any order, are the same
   * row.
   *
   * @throws SondeError `SRC_VALUE` where a label is missing or does not fit, `SRC_BIND` where the type has no such label, a packed layout, or a field that is not
   * optional and that handles do not write,
   * `SRC_ROW_LIMIT` where `rowLimit` rows are bound, `SRC_SYMBOL_LIMIT` where a label is new text and the symbol table is full.
   */
  bind<T extends RecordType>(type: T, labels: Labels): Row {
    this.#checkOpen()
    let table = this.#tables.get(type)
    if (table === undefined) {
      table = new Table(type, this.symbols, this.#rowLimit)
      this.#tables.set(type, table)
    }
    return table.bind(labels)
  }

  /** Emits the current rows of every bound type, but those whose gauges were not all set yet, stamped with `timeNs`. Default: now. Does nothing once closed. */
  collect(timeNs: bigint = wallNs()): void {
    if (this.#closed) return
    if (this.#clock === 'wall' && timeNs >> 32n < BigInt(EARLIEST_HIGH.ns)) {
      throw earlyTime('timeNs of collect', timeNs, 1_000_000n)
    }
    for (const { type, views, count } of this.#tables.values()) {
      if (count === 0) continue
      const { recordBytes } = type.layout
      if (type.time !== undefined) {
        const time = type.time.field.resolution === 'us' ? timeNs / 1000n : timeNs
        for (let row = 0; row < count; row++) views.u64[(row * recordBytes + type.time.offset) >> 3] = time
      }
      const bytes = views.bytes.subarray(0, count * recordBytes)
      this.#emit({ type, source: this.info, clock: this.#clock, count, bytes })
    }
    if (this.#tellLosses(LOSS_REPORT_MS)) this.#send(this.#bufferOf(lossType))
  }

  /** Emits what is buffered. */
  flush(): void {
    this.#tellLosses(LOSS_REPORT_MS)
    this.#sendAll()
  }

  /** Flushes; reporting afterwards throws `SRC_CLOSED`. May be called twice. */
  close(): void {
    if (this.#closed) return
    this.#tellLosses(0)
    this.#sendAll()
    this.#closed = true
  }

  /** Records of a type that fit in one buffer. */
  capacityFor(type: RecordType): number {
    return Math.floor(this.#bufferBytes / type.layout.recordBytes)
  }

  #drop(reason: string): void {
    countDrop(this.stats, reason, 1)
    this.#onLoss?.(reason, 1)
  }

  /** Reports the totals where they grew, at most once in `apartMs`, and from time to time for who came later. Says whether it did. */
  #tellLosses(apartMs: number): boolean {
    if (this.stats.dropped.size === 0 || this.#onLoss !== undefined || this.#closed) return false
    const sinceMs = performance.now() - this.#toldMs
    const total = droppedTotal(this.stats)
    if (sinceMs < (total === this.#toldDrops ? LOSS_REPEAT_MS : apartMs)) return false
    this.#toldMs = performance.now()
    this.#toldDrops = total
    this.symbols.reserve(this.info.id)
    for (const [reason, records_total] of this.stats.dropped) {
      this.symbols.reserve(reason)
      this.report(lossType, { time: wallNs(), component: this.info.id, reason, records_total })
    }
    return true
  }

  #bufferOf(type: RecordType): Buffer {
    const known = this.#buffers.get(type)
    if (known !== undefined) {
      if (this.#closed) this.#checkOpen()
      return known
    }
    this.#checkOpen()
    const capacity = this.capacityFor(type)
    if (capacity === 0) {
      const { recordBytes } = type.layout
      throw new SondeError(
        'SRC_RECORD_SIZE',
        `a record of ${type.name} takes ${recordBytes} bytes, the buffer ${this.#bufferBytes}; set bufferBytes to at least ${recordBytes}`,
      )
    }
    const views = allocateViews(capacity * type.layout.recordBytes)
    const timeHighAt = type.time === undefined || this.#clock !== 'wall' ? -1 : type.time.offset + 4
    const earliestHigh = EARLIEST_HIGH[type.time?.field.resolution ?? 'ns']
    const encode = encoderOf(type, this.symbols)
    const buffer: Buffer = { type, views, capacity, encode, timeHighAt, earliestHigh, count: 0 }
    this.#buffers.set(type, buffer)
    return buffer
  }

  #sendAll(): void {
    for (const buffer of this.#buffers.values()) this.#send(buffer)
  }

  #send(buffer: Buffer): void {
    const { type, count, views } = buffer
    if (count === 0) return
    buffer.count = 0
    const bytes = views.bytes.subarray(0, count * type.layout.recordBytes)
    this.#emit({ type, source: this.info, clock: this.#clock, count, bytes })
  }

  #checkOpen(): void {
    if (this.#closed) throw new SondeError('SRC_CLOSED', `source ${this.info.id} is closed; make a new one`)
  }
}

function checkNames(type: RecordType, record: object): void {
  const unknown = Object.keys(record).find((name) => !Object.hasOwn(type.fields, name))
  if (unknown === undefined) return
  throw new SondeError(
    'SRC_VALUE',
    `${type.name} has no field ${JSON.stringify(unknown)}; it has: ${Object.keys(type.fields).join(', ')}`,
  )
}

function refuseTime({ name, time }: RecordType, given: bigint): never {
  const isMicro = time?.field.resolution === 'us'
  throw earlyTime(`${name}.${time?.name}`, given, isMicro ? 1000n : 1_000_000n)
}

function earlyTime(place: string, given: bigint, unitsPerMs: bigint): SondeError {
  const unit = unitsPerMs === 1000n ? 'microseconds' : 'nanoseconds'
  const shownTime = new Date(Number(given / unitsPerMs)).toISOString()
  return new SondeError(
    'SRC_VALUE',
    `${place} was given ${given}, which is ${shownTime}; allowed: ${unit} since the Unix epoch, from 2000 on`,
  )
}
