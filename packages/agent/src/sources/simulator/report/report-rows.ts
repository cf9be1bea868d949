import type { Labels, RecordType, Views } from '@sonde/sdk'
import { allocateViews, encoderOf, type Slot } from '@sonde/sdk/internal'
import { FieldAbsences } from '../../field-absences.ts'
import type { SourceContext } from '../../source.ts'
import type { Vector } from '../model/vector.ts'
import { type AnyColumns, type PlacedColumn, type PlacedColumns, placeColumns, slotOf } from './column.ts'
import { writeColumn } from './write.ts'

/** Reason for the absence of a field that a row does not have. */
const LACKING = 'the simulated device has none'
const NO_COUNTERS = new Float64Array(0)

/** Identity and constants of a row. */
export interface RowFacts {
  readonly labels: Readonly<Record<string, string | number>>
  readonly facts?: Readonly<Record<string, unknown>>
  /** Reasons for absent fields, by name. Default: the device does not have the field. */
  readonly reasons?: Readonly<Record<string, string>>
  /** Whether the row exists from the start. Default: true. */
  readonly isThere?: boolean
}

interface ReportRow {
  readonly labels: Labels
  readonly reasons: Readonly<Record<string, string>>
  absences: FieldAbsences
  isThere: boolean
  isSkipped: boolean
}

/**
 * The records of one type with one row per series, kept in the memory that is reported. Labels, texts and constants are
 * written once, columns at each sample, without allocation. Rows are laid out when the first row is used, because the
 * layout of all types takes longer than the limit of a turn of the main loop.
 */
export class ReportRows<Reader> {
  readonly type: RecordType
  readonly #context: SourceContext
  readonly #columns: PlacedColumns<Reader>
  readonly #rows: ReportRow[] = []
  readonly #bytes: number
  readonly #views: Views
  #waiting: readonly RowFacts[]

  /** `places` are the indexes of the counters in the columns. */
  constructor(
    context: SourceContext,
    type: RecordType,
    columns: AnyColumns<Reader>,
    rows: readonly RowFacts[],
    places: Vector<string> = {},
  ) {
    this.type = type
    this.#context = context
    this.#columns = placeColumns(type, columns, places)
    this.#bytes = type.layout.recordBytes
    this.#views = allocateViews(this.#bytes * Math.max(1, rows.length))
    this.#waiting = rows
  }

  /** Writes the values of a device into its row: readings and counters. */
  write(index: number, reader: Reader, counters: Float64Array = NO_COUNTERS): void {
    const row = this.#row(index)
    const offset = index * this.#bytes
    const columns = this.#columns.changing
    for (let i = 0; i < columns.length; i++) {
      const placed = columns[i] as PlacedColumn<Reader>
      const isPresent = writeColumn(this.#views, offset, placed, reader, counters)
      const { slot } = placed
      if (isPresent === this.#isPresent(offset, slot)) continue
      this.#setPresent(offset, slot)
      if (isPresent) row.absences.present(slot.name)
      else this.#absent(row, slot.name)
    }
  }

  /** Writes a text that may change. */
  setText(index: number, field: string, text: string): void {
    const slot = slotOf(this.type, field)
    this.#row(index)
    this.#views.u32[(index * this.#bytes + slot.offset) >> 2] = this.#context.source.symbols.id(text)
  }

  /** Removes the series from every view; {@link come} adds it again. */
  leave(index: number, reason: string): void {
    const row = this.#row(index)
    if (!row.isThere) return
    row.isThere = false
    this.#context.absences.gone(this.type, row.labels, reason)
    row.absences = new FieldAbsences(this.#context.absences, this.type, row.labels)
  }

  /** Adds the series, again if it left before. */
  come(index: number): void {
    const row = this.#row(index)
    if (row.isThere) return
    row.isThere = true
    this.#tellAbsent(row, index)
  }

  /** Omits the row from the next report without an absence, as in a missed sample. */
  skip(index: number): void {
    this.#row(index).isSkipped = true
  }

  /** Reports all present rows. */
  report(time: bigint): void {
    if (this.#waiting.length > 0) this.#layOut()
    const { type } = this
    let from = 0
    for (let index = 0; index <= this.#rows.length; index++) {
      const row = this.#rows[index]
      if (row !== undefined) this.#views.u64[(index * this.#bytes + (type.time?.offset ?? 0)) >> 3] = time
      if (row?.isThere === true && !row.isSkipped) continue
      if (index > from) {
        const bytes = this.#views.bytes.subarray(from * this.#bytes, index * this.#bytes)
        this.#context.source.reportPacked(type, bytes, index - from)
      }
      from = index + 1
      if (row !== undefined) row.isSkipped = false
    }
  }

  #row(index: number): ReportRow {
    if (this.#waiting.length > 0) this.#layOut()
    return this.#rows[index] as ReportRow
  }

  #layOut(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const row of waiting) this.#add(row)
  }

  #add({ labels, facts = {}, reasons = {}, isThere = true }: RowFacts): void {
    const { absences, source } = this.#context
    const index = this.#rows.length
    const record: Record<string, unknown> = { ...labels, ...facts, ...this.#columns.start }
    if (this.type.time !== undefined) record[this.type.time.name] = 0n
    encoderOf(this.type, source.symbols)(record, this.#views, index * this.#bytes)
    const texts = Object.fromEntries(this.type.labels.map(({ name }) => [name, String(labels[name])]))
    const row: ReportRow = {
      labels: texts,
      reasons,
      absences: new FieldAbsences(absences, this.type, texts),
      isThere,
      isSkipped: false,
    }
    this.#rows.push(row)
    if (isThere) this.#tellAbsent(row, index)
  }

  #tellAbsent(row: ReportRow, index: number): void {
    for (const slot of this.type.layout.slots) {
      if (slot.field.optional && !this.#isPresent(index * this.#bytes, slot)) this.#absent(row, slot.name)
    }
  }

  #absent(row: ReportRow, field: string): void {
    row.absences.absent(field, 'unsupported', row.reasons[field] ?? LACKING)
  }

  #isPresent(offset: number, slot: Slot): boolean {
    if (!slot.field.optional) return true
    return (((this.#views.u32[(offset >> 2) + (slot.index >> 5)] as number) >>> (slot.index & 31)) & 1) === 1
  }

  #setPresent(offset: number, slot: Slot): void {
    const at = (offset >> 2) + (slot.index >> 5)
    this.#views.u32[at] = (this.#views.u32[at] as number) ^ (1 << (slot.index & 31))
  }
}
