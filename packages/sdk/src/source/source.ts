import { SondeError, shown } from '../errors.ts'
import type { SourceInfo } from '../schema/batch.ts'
import { lossType, periodType } from '../schema/builtin.ts'
import { isOwnLabel } from '../schema/label-rules.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import type { LossReason, SymbolTable } from '../schema/symbols.ts'
import type { BatchSymbols, SourceTexts } from '../schema/texts.ts'
import type { UnreportedDrops } from '../sink/unreported-drops.ts'
import { checkNames, EARLIEST_HIGH, earlyTime, putPacked, type RecordBuffer, refuseTime, takeBack } from './buffer.ts'
import { wallNs } from './clock.ts'
import { HandOver, type SourceLosses } from './hand-over.ts'
import { type AllOptions, checkSourceOptions, type SourceOptions } from './options.ts'
import { type Period, PeriodReport } from './period-report.ts'
import { isOwnType, RecordBuffers } from './record-buffers.ts'
import { makeReporter, type Reporter } from './reporter.ts'
import { SourceTables } from './source-tables.ts'
import { type Row, Table } from './table.ts'

const NOTHING_TO_WAIT_FOR = Promise.resolve()
const LOSS_REPORT_MS = 1000

/**
 * Makes a source, through which applications and the agent report records. Each record is encoded once, into the buffer
 * of its type. A full buffer is emitted as a batch; `flush` and `close` emit all buffers.
 *
 * @throws SondeError `SRC_ID`, `SRC_BUFFER_BYTES` or `SRC_OPTION` if an option is not allowed, `SCH_LABEL_NAME` if a
 * label is reserved for Sonde, `SCH_LIMIT` if the size of a symbol table is out of range.
 */
export function createSource(options: SourceOptions): Source {
  const own = Object.keys(options?.labels ?? {}).find(isOwnLabel)
  if (own === undefined) return createOwnSource(options)
  throw new SondeError(
    'SCH_LABEL_NAME',
    `source ${shown(options.id)}: the label ${own} is Sonde's own; name the label otherwise`,
  )
}

/** {@link createSource} for Sonde itself, which may mark a source as simulated. */
export function createOwnSource(options: SourceOptions): Source {
  return new Source(options)
}

/** See {@link createSource}, which checks the options; do not use `new`. */
export class Source {
  readonly #tables: SourceTables
  readonly #texts: SourceTexts
  readonly stats: SourceLosses
  /** Dropped records, and which of them were reported. For Sonde itself. */
  readonly losses: UnreportedDrops
  readonly #handOver: HandOver
  readonly #options: AllOptions
  readonly #buffers: RecordBuffers
  readonly #bound = new Map<RecordType, Table>()
  readonly #periods = new PeriodReport()
  #isPeriodTold = false
  #isEmitting = false
  readonly #beforeEnd = new Set<() => void>()
  readonly #timer: NodeJS.Timeout | undefined
  /** After `close`: the acknowledgement of the last records. */
  #closed: Promise<void> | undefined

  constructor(options: SourceOptions) {
    const checked = checkSourceOptions(options)
    const { id, intervalMs, flushIntervalMs } = checked
    this.#tables = new SourceTables(checked)
    this.#texts = this.#tables.texts
    this.#buffers = new RecordBuffers(this.#tables, checked)
    this.#handOver = new HandOver(id, checked)
    this.stats = this.#handOver.stats
    this.losses = this.#handOver.losses
    if (intervalMs > 0) this.#periods.set(undefined, { reportUs: intervalMs * 1000 })
    this.#options = checked
    if (flushIntervalMs > 0) this.#timer = setInterval(() => this.emit(), flushIntervalMs).unref()
  }

  /** The identity of the source, with its current labels. */
  get info(): SourceInfo {
    return this.#tables.info
  }

  /**
   * The symbol table of labels, for callers that write packed bytes. After the first read of this property, a full
   * table is not replaced: records with a new label are then dropped.
   */
  get symbols(): SymbolTable {
    this.#tables.keepsSymbols = true
    return this.#tables.labels.table
  }

  /**
   * Reports one record, many records, or packed records. `count` is the number of packed records; default: as many as
   * the bytes hold. The type is a result of `defineType` or, for a source of a schema, its index there.
   *
   * If a label is new and the symbol table is full, the source continues with an empty table. A record whose labels do
   * not fit an empty table is dropped and counted in `stats`.
   *
   * If one of many records is invalid, none of them is reported, and the error names its index from 0. If the buffer
   * became full halfway, the records already emitted are kept, and the error names their number. Packed bytes are
   * checked before the first record is copied.
   *
   * @throws SondeError `SRC_VALUE` if a field is missing, unknown or out of range, or a wall-clock time is before 2000
   * (for example milliseconds in place of nanoseconds). `SRC_BYTES` if packed bytes are not `count` whole records.
   * `SRC_RECORD_SIZE` if a record is larger than the buffer. `SRC_TYPE` if the schema has no such type. `SRC_CLOSED`
   * after `close`. No part of the refused record or bytes is kept.
   */
  report(index: number, what: object, count?: number): void
  report(type: RecordType, bytes: Uint8Array, count?: number): void
  report<T extends RecordType>(type: T, records: Iterable<RecordOf<T>>): void
  report<T extends RecordType>(type: T, record: RecordOf<T>): void
  report(type: RecordType | number, what: object, count?: number): void {
    const buffer = this.#bufferOf(type)
    if (count !== undefined || Array.isArray(what) || ArrayBuffer.isView(what)) this.#reportMany(buffer, what, count)
    else if (buffer.mayBeEmpty && isIterable(what)) this.#reportMany(buffer, what)
    else this.#reportOther(buffer, what)
  }

  /**
   * Tests for an iterable only after encoding has failed: a test of every record would add a fifth to its time.
   */
  #reportOther(buffer: RecordBuffer, what: object): void {
    try {
      this.#reportOne(buffer, what)
    } catch (error) {
      if (!isIterable(what)) throw error
      this.#reportMany(buffer, what)
    }
  }

  #reportOne(buffer: RecordBuffer, record: object): void {
    if (this.#texts.isFull) this.#replaceTexts()
    const { views, count } = buffer
    const offset = count * buffer.recordBytes
    if (!buffer.encode(record, views, offset)) {
      this.#reportToSuccessor(buffer, record)
      return
    }
    checkNames(buffer, record, offset)
    if (buffer.timeHighAt >= 0 && views.data.getUint32(offset + buffer.timeHighAt, true) < buffer.earliestHigh) {
      refuseTime(buffer, offset)
    }
    buffer.count = count + 1
    if (count + 1 === buffer.capacity) this.#send(buffer)
  }

  /** A label did not fit the full table: retries with an empty table, which fails if one record fills it. */
  #reportToSuccessor(buffer: RecordBuffer, record: object): void {
    const isRoom = this.#succeed() && buffer.encode(record, buffer.views, buffer.count * buffer.recordBytes)
    if (isRoom) this.#reportOne(buffer, record)
    else this.countLoss('symbol_limit')
  }

  #reportMany(buffer: RecordBuffer, what: object, count?: number): void {
    if (what instanceof Uint8Array) {
      putPacked(buffer, what, count ?? what.byteLength / buffer.recordBytes, () => this.#send(buffer))
      return
    }
    if (ArrayBuffer.isView(what)) {
      throw new SondeError(
        'SRC_BYTES',
        `${buffer.type.name}: packed bytes are a Uint8Array; give one over the same memory`,
      )
    }
    if (count !== undefined) {
      throw new SondeError('SRC_BYTES', `${buffer.type.name}: a count of ${count} without packed bytes; leave it out`)
    }
    this.#reportEach(buffer, what as Iterable<object>)
  }

  /** A function of its own, so that the code for a single record stays short. */
  #reportEach(buffer: RecordBuffer, records: Iterable<object>): void {
    const mark = { count: buffer.count, emitted: buffer.emitted }
    let index = 0
    try {
      for (const record of records) {
        this.#checkOpen()
        this.#reportOne(buffer, record)
        index++
      }
    } catch (error) {
      throw takeBack(buffer, mark, index, error)
    }
  }

  /**
   * Makes a function that reports one record from the values of its fields, in the order of `names`. It is the fastest
   * way to report, for types with millions of records a second. Optional fields without a name are absent. The function
   * throws the errors of `report`.
   *
   * @throws SondeError `SRC_REPORTER` if a name is unknown or comes twice, or a required field is missing; the errors
   * of `report`.
   * @example
   * const report = source.reporter(job, ['time', 'queue', 'seconds'])
   * report(timestampUs(), 'mail', 1.5)
   */
  reporter<T extends RecordType, const N extends readonly (keyof RecordOf<T> & string)[]>(
    type: T,
    names: N,
  ): Reporter<T, N> {
    const source = {
      labels: this.#tables.labels,
      texts: this.#texts,
      succeed: () => this.#succeed(),
      replaceTexts: () => this.#replaceTexts(),
      send: (buffer: RecordBuffer) => this.#send(buffer),
      drop: () => this.countLoss('symbol_limit'),
      refuse: () => this.#checkOpen(),
    }
    return makeReporter<T, N>(this.#bufferOf(type), names, source)
  }

  /**
   * The row of a series, for hot paths: the labels are looked up once, later calls only write numbers. `collect` sends
   * all rows. The same labels in any order give the same row.
   *
   * @throws SondeError `SRC_VALUE` if a label is missing or too long. `SRC_BIND` if the type has no such label, has a
   * packed layout, or has a required field that handles cannot write. `SRC_ROW_LIMIT` if `rowLimit` rows are bound.
   * `SRC_SYMBOL_LIMIT` if a label does not fit an empty symbol table.
   */
  bind<T extends RecordType>(type: T, labels: Labels): Row {
    this.#checkOpen()
    let table = this.#bound.get(type)
    if (table === undefined) {
      this.#buffers.check(this.#buffers.typeOf(type))
      table = new Table(type, this.#tables.labels, this.#options.rowLimit, () => this.#succeed())
      this.#bound.set(type, table)
    }
    const row = table.bind(labels)
    this.#tables.isUsed = true
    return row
  }

  /**
   * Emits the current rows of every bound type, or only of `types`, with the time `timeNs` (default: now). Rows with a
   * gauge that was never set are left out. Does nothing after `close`.
   */
  collect(timeNs: bigint = wallNs(), types?: ReadonlySet<RecordType>): void {
    if (this.#closed !== undefined) return
    if (this.#options.clock === 'wall' && timeNs >> 32n < BigInt(EARLIEST_HIGH.ns)) {
      throw earlyTime('timeNs of collect', timeNs, 1_000_000n)
    }
    if (this.#isPeriodTold) this.#sendPeriods()
    for (const { type, views, count } of this.#bound.values()) {
      if (count === 0 || types?.has(type) === false) continue
      const { recordBytes } = type.layout
      if (type.time !== undefined) {
        const time = type.time.field.resolution === 'us' ? timeNs / 1000n : timeNs
        for (let row = 0; row < count; row++) views.u64[(row * recordBytes + type.time.offset) >> 3] = time
      }
      const bytes = views.bytes.subarray(0, count * recordBytes)
      this.#emit(type, count, bytes, this.#tables.labelsAlone)
    }
    if (this.#tellLosses(LOSS_REPORT_MS)) this.#send(this.#bufferOf(lossType))
  }

  /** Emits all buffered records without waiting for an acknowledgement. Does nothing after `close`. */
  emit(): void {
    if (this.#closed !== undefined) return
    if (this.#isPeriodTold) this.#sendPeriods()
    this.#tellLosses(LOSS_REPORT_MS)
    this.#sendAll()
  }

  /**
   * Backpressure for fast producers: `await source.ready()` between reports. Resolves at once if every sink can accept
   * more. If this turn of the event loop took long, it resolves in the next turn, because nothing is sent before a turn
   * ends. If the queue of a sink is more than half full, it resolves when the queue is down to a quarter. If the peer
   * of a sink accepts nothing for the limit of that sink, it resolves too; records are then dropped and reported. Never
   * rejects. Resolves when the source is closed.
   *
   * An `await` costs about as much as a report: await it before each record, or once in a hundred.
   */
  ready(): Promise<void> {
    const { ready } = this.#options
    return ready === undefined || this.#closed !== undefined ? NOTHING_TO_WAIT_FOR : ready()
  }

  /**
   * Emits all buffered records before it returns. Resolves when all emitted records are acknowledged; for a source of a
   * schema, by every sink. A program may ignore the promise.
   *
   * @throws SondeError `SRC_LOST` if the source dropped records since the last flush; else the error of `acknowledge`:
   * `TEL_LOST` or `TEL_PENDING` for a source of a schema.
   */
  flush(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed
    this.emit()
    return this.#handOver.acknowledged()
  }

  /**
   * Flushes; later reports throw `SRC_CLOSED`. May be called twice.
   *
   * @throws SondeError the errors of {@link flush}.
   */
  close(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed
    for (const run of this.#beforeEnd) run()
    clearInterval(this.#timer)
    this.#tellLosses(0)
    this.#sendAll()
    for (const buffer of this.#buffers.all()) buffer.isClosed = true
    this.#closed = this.#handOver.acknowledged()
    return this.#closed
  }

  /** Whether the source is closed. */
  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /**
   * The number of records of a type, given as an object or an index, that fit in one buffer; 0 if none fits.
   *
   * @throws SondeError `SRC_TYPE` if there is no such type.
   */
  capacityFor(type: RecordType | number): number {
    return Math.floor(this.#options.bufferBytes / this.#buffers.typeOf(type).layout.recordBytes)
  }

  /**
   * Calls a function when the source closes or the process ends, to report the last records. Returns a function that
   * cancels this.
   */
  beforeEnd(run: () => void): () => void {
    this.#checkOpen()
    this.#beforeEnd.add(run)
    return () => this.#beforeEnd.delete(run)
  }

  /** Reports and emits the last records when the process ends. */
  emitLast(): void {
    if (this.#closed !== undefined) return
    for (const run of this.#beforeEnd) run()
    this.emit()
  }

  /** Counts records, or updates of a metric, as dropped. For Sonde itself. */
  countLoss(reason: LossReason, records = 1): void {
    this.#handOver.count(reason, records)
  }

  /**
   * Allows a type that is not in the schema. For Sonde itself: the metrics API makes types at run time.
   */
  admit(type: RecordType): void {
    this.#buffers.admit(type)
  }

  /**
   * Declares the periods of the records of a type from a device, or from every device. They may change at any time.
   * Readers derive gaps and rates from them. Default: `intervalMs` of the options, for all types.
   *
   * @throws SondeError `SRC_PERIOD` for an invalid period, and beyond 4096 types and devices.
   */
  setPeriod(type: RecordType | undefined, period: Period): void {
    this.#periods.set(type, period)
  }

  /**
   * Changes some periods of a device, for each type with periods of that device, else for all types. For Sonde itself.
   *
   * @throws SondeError the errors of {@link setPeriod}.
   */
  changePeriod(device: string, changed: Omit<Partial<Period>, 'device'>): void {
    this.#periods.change(device, changed)
  }

  /** Ends the reports about the periods of a device. For Sonde itself. */
  forgetPeriods(device: string): void {
    this.#periods.forget(device)
  }

  /** Whether a batch is being emitted, which refers to the current tables. */
  #beginPeriods(): void {
    this.#isEmitting = true
    this.#sendPeriods()
    this.#isEmitting = false
  }

  /** Reports new and changed periods, and all periods once a minute, before the records with these periods. */
  #sendPeriods(): void {
    this.#isPeriodTold = true
    let isTold = false
    for (const period of this.#periods.due(Date.now())) {
      this.report(periodType, period)
      isTold = true
    }
    if (isTold) this.#send(this.#bufferOf(periodType))
  }

  /** Reports losses, at most once in `apartMs`. Returns whether it did. */
  #tellLosses(apartMs: number): boolean {
    let isTold = false
    for (const [reason, records_total] of this.#handOver.due(apartMs)) {
      this.report(lossType, { time: wallNs(), component: this.info.id, reason, records_total })
      isTold = true
    }
    return isTold
  }

  #bufferOf(type: RecordType | number): RecordBuffer {
    if (this.#closed !== undefined) this.#checkOpen()
    return this.#buffers.of(type)
  }

  #sendAll(): void {
    // A buffer that is known by an index too comes twice, the second time empty.
    for (const buffer of this.#buffers.all()) this.#send(buffer)
  }

  #send(buffer: RecordBuffer): void {
    const { type, count, views, hasTexts } = buffer
    if (count === 0) return
    buffer.count = 0
    buffer.emitted += count
    const bytes = views.bytes.subarray(0, count * buffer.recordBytes)
    const symbols = hasTexts ? this.#texts.table : this.#tables.labelsAlone
    this.#emit(type, count, bytes, symbols)
  }

  #emit(type: RecordType, count: number, bytes: Uint8Array, symbols: BatchSymbols): void {
    // A source that never reported has no periods.
    if (!this.#isPeriodTold) this.#beginPeriods()
    // Records of Sonde itself have times of the wall clock.
    const clock = isOwnType(type) ? 'wall' : this.#options.clock
    const arrivedMs = performance.now()
    this.#tables.isUsed = true
    this.#handOver.emit({ type, source: this.#tables.info, clock, count, bytes, symbols, origin: 'own', arrivedMs })
  }

  /** Emits first, because buffered records refer to the old table. */
  #replaceTexts(): void {
    this.#sendAll()
    this.#texts.replace()
  }

  /**
   * Continues with an empty table of labels, as a successor that takes over all series. False if that would not help.
   */
  #succeed(): boolean {
    if (this.#isEmitting || !this.#tables.isWorthReplacing) return false
    this.#sendAll()
    if (!this.#tables.isUsed) return false
    const before = this.#tables.replace()
    for (const table of this.#bound.values()) table.relabel((symbol) => before.text(symbol))
    this.#tables.labels.began()
    return true
  }

  #checkOpen(): void {
    if (this.#closed === undefined) return
    throw new SondeError('SRC_CLOSED', `source ${this.info.id} is closed; make a new one`)
  }
}

function isIterable(what: object | null): boolean {
  return typeof what === 'object' && what !== null && Symbol.iterator in what
}
