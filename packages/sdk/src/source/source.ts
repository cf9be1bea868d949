import { SondeError, shown } from '../errors.ts'
import type { SourceInfo } from '../schema/batch.ts'
import { lossType, periodType } from '../schema/builtin.ts'
import { isOwnLabel } from '../schema/label-rules.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import type { LossReason, SymbolTable } from '../schema/symbols.ts'
import type { BatchSymbols, SourceTexts } from '../schema/texts.ts'
import type { Untold } from '../sink/untold.ts'
import { checkNames, EARLIEST_HIGH, earlyTime, putPacked, type RecordBuffer, refuseTime, takeBack } from './buffer.ts'
import { wallNs } from './clock.ts'
import { HandOver, type SourceLosses } from './hand-over.ts'
import { type AllOptions, checkOptions, type SourceOptions } from './options.ts'
import { type Period, PeriodReport } from './period-report.ts'
import { isOwnType, RecordBuffers } from './record-buffers.ts'
import { makeReporter, type Reporter } from './reporter.ts'
import { SourceTables } from './source-tables.ts'
import { type Row, Table } from './table.ts'

const NOTHING_TO_WAIT_FOR = Promise.resolve()
const LOSS_REPORT_MS = 1000

/**
 * Makes a source: what applications and the agent's own sources report through. A record is encoded once, into the
 * buffer of its type; a full buffer, `flush` and `close` emit it as a batch.
 *
 * @throws SondeError `SRC_ID`, `SRC_BUFFER_BYTES` or `SRC_OPTION` if an option is not allowed, `SCH_LABEL_NAME`
 * if a label is one that only Sonde gives, `SCH_LIMIT` for a symbol table out of range.
 */
export function createSource(options: SourceOptions): Source {
  const own = Object.keys(options?.labels ?? {}).find(isOwnLabel)
  if (own === undefined) return createOwnSource(options)
  throw new SondeError(
    'SCH_LABEL_NAME',
    `source ${shown(options.id)}: the label ${own} is Sonde's own; name the label otherwise`,
  )
}

/** {@link createSource} for Sonde's own rooms, which may say that a source is simulated. */
export function createOwnSource(options: SourceOptions): Source {
  return new Source(options)
}

/** See {@link createSource}. Not for `new`: options are checked there. */
export class Source {
  readonly #tables: SourceTables
  readonly #texts: SourceTexts
  readonly stats: SourceLosses
  /** What was dropped, and who has heard of it. For Sonde's own rooms. */
  readonly losses: Untold
  readonly #handOver: HandOver
  readonly #options: AllOptions
  readonly #buffers: RecordBuffers
  readonly #bound = new Map<RecordType, Table>()
  readonly #periods = new PeriodReport()
  #isPeriodTold = false
  #isEmitting = false
  readonly #beforeEnd = new Set<() => void>()
  readonly #timer: NodeJS.Timeout | undefined
  /** Once closed: the acknowledgement of what was left. */
  #closed: Promise<void> | undefined

  constructor(options: SourceOptions) {
    const checked = checkOptions(options)
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

  /** Who reports, with the labels that batches refer to now. */
  get info(): SourceInfo {
    return this.#tables.info
  }

  /**
   * Texts of labels, whose symbols may be written into packed bytes. Who asks for the table keeps it: from then on it
   * is not replaced when it is full, and records with a new label are dropped.
   */
  get symbols(): SymbolTable {
    this.#tables.keepsSymbols = true
    return this.#tables.labels.table
  }

  /**
   * Reports one record, many, or records that are packed already: `count` of them, or as many as the bytes hold. The
   * type is one of those that `defineType` made or, for a source of a schema, its index there.
   *
   * Where a label of a record is new text and the symbol table is full, the source goes on with an empty table. A
   * record that finds no room in that either is dropped and counted in `stats`.
   * Where one of many is wrong, none of them is reported, and the error says which it is, from 0; where a buffer became
   * full amid, what it emitted stays, and the error says how many of them that is. Packed bytes are checked before the
   * first is copied, and split between records where they exceed the buffer.
   *
   * @throws SondeError `SRC_VALUE` if a field is missing or does not fit, where a timestamp of the wall clock is
   * before 2000 (milliseconds given for nanoseconds, say) in a record or in packed bytes, and where a record has a
   * field that the type has not. Nothing of the record, or of the bytes, is kept then. `SRC_BYTES` unless packed bytes
   * are whole records, `count` of them; nothing is kept then. `SRC_RECORD_SIZE` if a record is larger than the
   * buffer, `SRC_TYPE` if the schema has no such type, `SRC_CLOSED` after `close`.
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
   * Only what is no record is looked at for records in it: to ask that of each would take a fifth of the time that it
   * takes to encode one.
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

  /** A label of the record found the table full: an empty one has room, unless the record fills that too. */
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

  /** Apart from what chooses it, so that the way of a single record stays short. */
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
   * A function that reports one record of a type and takes the values of the fields in the order of `names`: the
   * fastest way from values to records, for types that are reported at millions a second. Optional fields that are not
   * named are absent. It throws what `report` throws.
   *
   * @throws SondeError `SRC_REPORTER` if a name is none of a field or comes twice, or a field that is not optional
   * is missing; others as `report`.
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
   * The row of a series, for hot paths: look the labels up once, then write numbers. `collect` sends all rows. The same
   * labels, in any order, are the same row.
   *
   * @throws SondeError `SRC_VALUE` if a label is missing or does not fit, `SRC_BIND` if the type has no such
   * label, a packed layout, or a field that is not optional and that handles do not write, `SRC_ROW_LIMIT` where
   * `rowLimit` rows are bound, `SRC_SYMBOL_LIMIT` if a label is new text and finds no room in an empty
   * symbol table either.
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
   * Emits the current rows of every bound type, or of `types` alone, but those whose gauges were not all set yet,
   * stamped with `timeNs`. Default: now. Does nothing once closed.
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

  /** Emits what is buffered, and waits for nobody. Does nothing once closed. */
  emit(): void {
    if (this.#closed !== undefined) return
    if (this.#isPeriodTold) this.#sendPeriods()
    this.#tellLosses(LOSS_REPORT_MS)
    this.#sendAll()
  }

  /**
   * What a fast producer awaits between reports: `await source.ready()`. Resolves at once where every sink has room, or
   * after a turn of the event loop where this turn took long, since nothing is sent before it ends. Where the queue of
   * a sink is more than half full, it resolves when a quarter is left. It never waits longer than a sink does for a far
   * end that takes nothing: records are dropped and reported then. Never rejects; resolves when the source is closed.
   *
   * An `await` costs about as much as a report; await it before each record, or once in a hundred.
   */
  ready(): Promise<void> {
    const { ready } = this.#options
    return ready === undefined || this.#closed !== undefined ? NOTHING_TO_WAIT_FOR : ready()
  }

  /**
   * Emits what is buffered before it returns. Resolves once all that was emitted is acknowledged: by every sink, for a
   * source of a schema. A program that does not wait for it may ignore the promise.
   *
   * @throws SondeError `SRC_LOST` if the source itself dropped records since the flush before; else what
   * `acknowledge` throws: `TEL_LOST` or `TEL_PENDING` for a source of a schema.
   */
  flush(): Promise<void> {
    if (this.#closed !== undefined) return this.#closed
    this.emit()
    return this.#handOver.acknowledged()
  }

  /**
   * Flushes; reporting afterwards throws `SRC_CLOSED`. May be called twice.
   *
   * @throws SondeError as {@link flush} does.
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

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  /**
   * Records of a type, or of that of an index in the schema, that fit in one buffer; 0 if it is too small for one.
   *
   * @throws SondeError `SRC_TYPE` if it is no type, and no index of one.
   */
  capacityFor(type: RecordType | number): number {
    return Math.floor(this.#options.bufferBytes / this.#buffers.typeOf(type).layout.recordBytes)
  }

  /**
   * Calls back when the source closes or the process ends, to report what is left. The function that it returns calls
   * that off.
   */
  beforeEnd(run: () => void): () => void {
    this.#checkOpen()
    this.#beforeEnd.add(run)
    return () => this.#beforeEnd.delete(run)
  }

  /** Reports what is left and emits it: the process ends. */
  emitLast(): void {
    if (this.#closed !== undefined) return
    for (const run of this.#beforeEnd) run()
    this.emit()
  }

  /** Counts records, or updates of a metric, as dropped. For Sonde's own rooms. */
  countLoss(reason: LossReason, records = 1): void {
    this.#handOver.count(reason, records)
  }

  /**
   * Lets a type be reported that is not of the schema. For Sonde's own rooms: the metrics API makes types as it goes.
   */
  admit(type: RecordType): void {
    this.#buffers.admit(type)
  }

  /**
   * Says how often the records of a type come of a device, or of every device. It may change at any time: who reads
   * takes gaps and rates from it. Default: `intervalMs` of the options, for all types.
   *
   * @throws SondeError `SRC_PERIOD` for a period that is none, and beyond 4096 types and devices.
   */
  setPeriod(type: RecordType | undefined, period: Period): void {
    this.#periods.set(type, period)
  }

  /**
   * Changes some periods of a device, for each type that has periods of that device, else for all types. For Sonde's
   * own rooms.
   *
   * @throws SondeError as {@link setPeriod} does.
   */
  changePeriod(device: string, changed: Omit<Partial<Period>, 'device'>): void {
    this.#periods.change(device, changed)
  }

  /** Ends what is reported of the periods of a device. For Sonde's own rooms. */
  forgetPeriods(device: string): void {
    this.#periods.forget(device)
  }

  /** Amid a batch, which refers to the tables of now. */
  #beginPeriods(): void {
    this.#isEmitting = true
    this.#sendPeriods()
    this.#isEmitting = false
  }

  /** Sends periods that begin or change, and all of them once a minute: before the records that come so often. */
  #sendPeriods(): void {
    this.#isPeriodTold = true
    let isTold = false
    for (const period of this.#periods.due(Date.now())) {
      this.report(periodType, period)
      isTold = true
    }
    if (isTold) this.#send(this.#bufferOf(periodType))
  }

  /** Reports what is lost, at most once in `apartMs`. Says whether it did. */
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
    // A buffer that is known by its index too comes twice, the second time empty.
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
    // Who never reports anything has no period.
    if (!this.#isPeriodTold) this.#beginPeriods()
    // What Sonde says itself has times of the wall clock.
    const clock = isOwnType(type) ? 'wall' : this.#options.clock
    const arrivedMs = performance.now()
    this.#tables.isUsed = true
    this.#handOver.emit({ type, source: this.#tables.info, clock, count, bytes, symbols, origin: 'own', arrivedMs })
  }

  /** What is buffered refers to the table that goes. */
  #replaceTexts(): void {
    this.#sendAll()
    this.#texts.replace()
  }

  /**
   * Goes on with an empty table of labels, as another source that takes over all series of this one. False where that
   * would make no room.
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
