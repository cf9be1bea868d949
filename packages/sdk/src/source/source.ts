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
import { type Row, Table } from './table.ts'

/** Options of {@link createSource}. */
export interface SourceOptions {
  /** Who reports: a host, a device, a configured source. 1 to 200 characters. */
  id: string
  /** Free text of the owner. Default: empty. */
  tag?: string
  /** Constant labels of every series. Default: none. */
  labels?: Labels
  /** Where full batches go; their bytes are valid only during the call. Must not throw, and must not report to the same source. */
  emit: (batch: Batch) => void
  /** Payload bytes kept a type before a batch is emitted. Range: one record to 64 MiB. Default: 60 000. */
  bufferBytes?: number
  /** Clock of the timestamps. Default: `wall`. */
  clock?: Clock
  /** Period at which it samples, so that readers know what a gap is. Unit: milliseconds. Default: 0, no period. */
  intervalMs?: number
  /** Symbols at most; records with a new label beyond are dropped as `symbol_limit`. Range: 2 to 16 777 216. Default: 65 536. */
  symbolLimit?: number
  /**
   * Called for every record that is dropped, at once; must not throw. Default: the source reports its losses itself, as records of `sonde_loss` whose component is
   * its id, at `flush`, `collect` and `close`: at most once a second, and again every minute.
   */
  onLoss?: (reason: string, records: number) => void
  /** Bound rows a type at most. Default: 100 000. */
  rowLimit?: number
}

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
  count: number
}

const BUFFER_BYTES_DEFAULT = 60_000
const BUFFER_BYTES_LIMIT = 64 << 20
const ROW_LIMIT_DEFAULT = 100_000
const LOSS_REPORT_MS = 1000
const LOSS_REPEAT_MS = 60_000

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
    if (options.id.length < 1 || options.id.length > 200) {
      throw new SondeError('SRC_ID', `a source id of ${options.id.length} characters; allowed: 1 to 200`)
    }
    const bufferBytes = options.bufferBytes ?? BUFFER_BYTES_DEFAULT
    if (!(bufferBytes >= 8 && bufferBytes <= BUFFER_BYTES_LIMIT)) {
      throw new SondeError('SRC_BUFFER_BYTES', `bufferBytes is ${bufferBytes}; allowed: 8 to ${BUFFER_BYTES_LIMIT}`)
    }
    const rowLimit = options.rowLimit ?? ROW_LIMIT_DEFAULT
    if (!(rowLimit >= 1)) throw new SondeError('SRC_OPTION', `rowLimit is ${rowLimit}; allowed: 1 or more`)
    const intervalMs = options.intervalMs ?? 0
    if (!(intervalMs >= 0)) throw new SondeError('SRC_OPTION', `intervalMs is ${intervalMs}; allowed: 0 or more`)
    this.symbols = new SymbolTable(options.symbolLimit)
    this.info = Object.freeze({
      id: options.id,
      tag: options.tag ?? '',
      labels: Object.freeze({ ...options.labels }),
      symbols: this.symbols,
      intervalMs,
    })
    this.#emit = options.emit
    this.#onLoss = options.onLoss
    this.#clock = options.clock ?? 'wall'
    this.#bufferBytes = bufferBytes
    this.#rowLimit = rowLimit
  }

  /**
   * Reports one record. Where one of its labels is new text and the symbol table is full, it is dropped and counted in `stats`.
   *
   * @throws SondeError `SRC_VALUE` where a field is missing or does not fit; nothing of the record is kept then.
   */
  report<T extends RecordType>(type: T, record: RecordOf<T>): void {
    const buffer = this.#bufferOf(type)
    const isWritten = buffer.encode(record as object, buffer.views, buffer.count * type.layout.recordBytes)
    if (!isWritten) this.#drop('symbol_limit')
    else if (++buffer.count === buffer.capacity) this.#send(buffer)
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
    const buffer: Buffer = { type, views, capacity, encode: encoderOf(type, this.symbols), count: 0 }
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
