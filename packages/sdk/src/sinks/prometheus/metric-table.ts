import { keyOfText } from '../../internal/seeded-hash.ts'
import { turn } from '../../internal/turn.ts'
import { type Batch, lifeOf, ownerOf, type SourceInfo } from '../../schema/batch.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { type AddedLabels, LabelText } from '../../wire/prometheus/label-text.ts'
import { textIndexesOf } from './index-texts.ts'
import { withIndexes } from './indexes.ts'
import { KeptLabels } from './kept-labels.ts'
import { createMember, type Member } from './member.ts'
import type { MetricColumn } from './metric-column.ts'
import type { QuotaHolder } from './quota.ts'
import { DUPLICATE, FREE, RowMemory, SHOWN } from './row-memory.ts'
import { RowRoom, type TableLimits } from './row-room.ts'

/** Counts of the records of a batch. Unit: records. */
export interface RecordCounts {
  /**
   * Records that were looked at, from the first on: fewer than the batch has where opening new series used up the turn.
   */
  records: number
  shown: number
  duplicate: number
  overSeriesLimit: number
  overLineLimit: number
  /** Whether a value, or the set of rows, is not what it was. */
  changed: boolean
}

/** What tells rows apart beside the labels of the type. */
export interface MoreLabels {
  /** Fields that are labels here. */
  readonly indexes: ReadonlySet<string>
  readonly added: AddedLabels | undefined
}

interface RowLocation {
  readonly member: Member
  readonly id: number
  /** The key of its label text. */
  readonly key: string
  /** The key of the text of the declared labels, where that is another one. */
  readonly declaredKey: string
  /** As how many lines each of its lines counts. */
  readonly weight: number
}

/**
 * Number of added or removed series between two readings of the clock: each takes some microseconds. A series with long
 * labels counts as many.
 */
const OPENED_A_STEP = 16
const CLOSED_A_STEP = 64

/**
 * The current record of every series of one type, of all sources. Records fill rows; `begin` fixes the rows for the
 * text.
 */
export class MetricTable {
  readonly type: RecordType
  /** Another array when a column comes or goes. */
  columns: readonly MetricColumn[] = []
  /** Whether a source of this process has had records of it. */
  isOwn = false
  readonly rows: RowMemory
  readonly #members = new Map<SourceInfo, Member>()
  /** The members of each owner; the last member continues the rows of earlier members. */
  readonly #owners = new Map<object, Set<Member>>()
  readonly #byKey = new Map<string, number>()
  readonly #places: (RowLocation | undefined)[] = []
  /** Rows that left since the last moment, which may still show them; and rows that are free for good. */
  #left: number[] = []
  #free: number[] = []
  #changed = false
  /** When it last took a record. Unit: milliseconds. */
  seenMs = 0
  readonly #declaredType: RecordType
  readonly #textIndexes: readonly Slot[]
  #added: AddedLabels | undefined
  readonly #room: RowRoom

  constructor(type: RecordType, timestamps: boolean, { indexes, added }: MoreLabels, limits: TableLimits) {
    this.type = withIndexes(type, indexes)
    this.#declaredType = type
    this.#textIndexes = textIndexesOf(type, this.type)
    this.#added = added
    this.rows = new RowMemory(type, timestamps)
    this.#room = new RowRoom(type, limits)
  }

  /** Rows in use, those of duplicates included. */
  get count(): number {
    return this.rows.high - this.#left.length - this.#free.length
  }

  /** Whether a holder gets no further row. */
  isFullFor(holder: QuotaHolder): boolean {
    return this.#room.rowsFor(holder) <= 0
  }

  /** Lines that one row gives when all its values are there. */
  get linesPerRow(): number {
    return this.#room.linesPerRow
  }

  /** The sources of the rows. */
  sources(): Iterable<SourceInfo> {
    return this.#members.keys()
  }

  /** Shows another metric of the rows, those that are there already included. */
  add(column: MetricColumn): void {
    this.columns = [...this.columns, column]
    this.#room.addLines(column.laneCount)
  }

  /** Shows a metric of the rows no longer. */
  remove(column: MetricColumn): void {
    this.columns = this.columns.filter((other) => other !== column)
    this.#room.addLines(-column.laneCount)
  }

  /**
   * Takes a batch of this type whose bytes are all there. Every record is counted; of each series the last one is
   * copied, since nothing shows the others. Where many series are new it stops when the turn of the event loop is used
   * up.
   */
  take(given: Batch, nowMs: number, expiredMs: number): RecordCounts {
    const taken: RecordCounts = {
      records: 0,
      shown: 0,
      duplicate: 0,
      overSeriesLimit: 0,
      overLineLimit: 0,
      changed: false,
    }
    const isFull = this.#members.get(given.source)?.texts?.isFull === true
    if (isFull && !this.removeAll(given.source)) return taken
    const member = this.#memberOf(given)
    const isSuccessor = (this.#owners.get(ownerOf(given.source))?.size ?? 0) > 1
    if (isSuccessor && !this.#keepLabels(member)) return taken
    const batch = member.texts?.translated(given, this.#textIndexes) ?? given
    const views = viewsOf(batch.bytes)
    const { recordBytes } = this.type.layout
    const { rows } = this
    this.seenMs = nowMs
    const room = this.#room
    let rowsLeft = room.rowsFor(member.holder)
    let linesLeft = room.linesFor(member.holder)
    let unasked = OPENED_A_STEP
    let isFirst = true
    let found: Int32Array | undefined
    for (let offset = 0; taken.records < batch.count; taken.records++, offset += recordBytes) {
      const place = taken.records % SeriesIndex.foundMax
      if (place === 0) {
        const count = Math.min(SeriesIndex.foundMax, batch.count - taken.records)
        found = member.index.findEach(views, offset, recordBytes, count)
        if (rows.touchEach(found, member.rows, { count, offset, nowMs })) {
          taken.shown += count
          // The step of the loop passes the last of them.
          taken.records += count - 1
          offset += (count - 1) * recordBytes
          continue
        }
      }
      const id = found?.[place] ?? member.index.find(views, offset)
      let row = id < 0 ? -1 : (member.rows[id] ?? -1)
      if (row < 0) {
        // What was found may not hold once a series comes or goes.
        found = undefined
        if (rowsLeft <= 0 && !isSuccessor) {
          taken.overSeriesLimit++
          continue
        }
        const isTight = linesLeft < room.linesOf(room.weightOf('')) && !isSuccessor
        if (!isTight && unasked >= OPENED_A_STEP) {
          // The first question starts the clock.
          if (turn.isOver() && !isFirst) break
          isFirst = false
          unasked = 0
        }
        const text = isTight ? '' : member.labels.of(views, offset)
        const weight = room.weightOf(text)
        if (!isTight) unasked += weight
        row = isSuccessor ? this.#takeOver(member, views, offset, text) : -1
        if (row < 0) {
          if (rowsLeft <= 0) {
            taken.overSeriesLimit++
            continue
          }
          if (room.linesOf(weight) > linesLeft) {
            taken.overLineLimit++
            continue
          }
          row = this.#open(member, views, offset, text, weight)
          rowsLeft--
          linesLeft -= room.linesOf(weight)
        }
      }
      if (rows.touch(row, offset)) {
        rows.seenMs[row] = nowMs
        if (rows.state[row] === DUPLICATE) this.#promote(row, expiredMs)
      }
      if (rows.state[row] === DUPLICATE || rows.covered[row]! > 0) taken.duplicate++
      else taken.shown++
    }
    rows.putTouched(views, batch.clock === 'wall')
    if (member.index.count === 0) this.#forget(member)
    taken.changed = this.#changed || rows.changed
    return taken
  }

  /**
   * Removes the rows of a source and of its predecessors, within the share of this turn of the event loop. Returns
   * whether none is left. `lifeMax`: rows of later lives of its host stay. Default: none stays.
   */
  removeAll(source: SourceInfo, lifeMax = Number.POSITIVE_INFINITY): boolean {
    for (const member of this.#membersOf(source))
      if (lifeOf(member.source) <= lifeMax && !this.#closeAll(member)) return false
    return true
  }

  #closeAll({ rows }: Member): boolean {
    for (let id = rows.length - 1; id >= 0; id--) {
      const row = rows[id] ?? -1
      if (row >= 0) this.#close(row)
      rows.length = id
      if (id > 0 && id % CLOSED_A_STEP === 0 && turn.isOver()) return false
    }
    return true
  }

  /**
   * Takes a series of a source out, by the key that `seriesKey` makes. Where rows have more labels than the record
   * declares, it is all rows with those of the key.
   */
  removeSeries(source: SourceInfo, key: string): void {
    for (const member of this.#membersOf(source)) this.#removeSeries(member, key)
  }

  #removeSeries(member: Member, key: string): void {
    const { labels, declared } = member
    if (declared !== undefined) {
      for (const row of declared.rows.get(keyOfText(declared.labels.ofKey(key))) ?? []) this.#close(row)
      return
    }
    const row = this.#byKey.get(keyOfText(labels.ofKey(key)))
    if (row !== undefined && this.#places[row]?.member === member) this.#close(row)
  }

  /**
   * Takes out what had no record since `expiredMs`, a step at a time. Returns the time of the oldest record that stays,
   * Infinity where none does.
   */
  *expire(expiredMs: number): Generator<void, number> {
    let oldestMs = Number.POSITIVE_INFINITY
    for (let row = 0; row < this.rows.high; row++) {
      if (row % CLOSED_A_STEP === 0) yield
      if (this.rows.state[row] === FREE) continue
      const seenMs = this.rows.seenMs[row]!
      if (seenMs <= expiredMs) this.#close(row)
      else if (seenMs < oldestMs) oldestMs = seenMs
    }
    return oldestMs
  }

  /** Makes now the moment that lines show. Gives the rows that changed, came or went: `rows.fix` copies them. */
  begin(): Int32Array {
    this.#free = this.#free.concat(this.#left)
    this.#left = []
    this.#changed = false
    return this.rows.begin()
  }

  /** Rows that are shown as of the last moment, with the key of their label text and the order of their coming. */
  *visible(): Generator<{ row: number; key: string; born: number }> {
    for (let row = 0; row < this.rows.high; row++) {
      const place = this.#places[row]
      if (place !== undefined && this.rows.shown.visible[row] === 1) {
        yield { row, key: place.key, born: this.rows.born[row]! }
      }
    }
  }

  /**
   * Gives all rows the labels that are added from now on, in as many turns of the event loop as it takes. A moment that
   * is to show them waits for it; records may come meanwhile.
   */
  async relabel(added: AddedLabels | undefined): Promise<void> {
    this.#added = added
    for (const member of this.#members.values()) this.#label(member)
    // Who shows a series may be another by the new labels.
    this.#byKey.clear()
    for (let row = 0; row < this.rows.high; row++) {
      this.#relabelRow(row)
      if (turn.isOver()) await turn.next()
    }
  }

  #relabelRow(row: number): void {
    const place = this.#places[row]
    if (place === undefined || this.rows.state[row] === FREE) return
    // A record that came between two turns may have found the row already.
    if (this.#byKey.get(place.key) === row) this.#byKey.delete(place.key)
    const text = place.member.labels.of(this.rows.live, this.rows.offsetOf(row))
    const key = keyOfText(text)
    const state = this.#byKey.has(key) ? DUPLICATE : SHOWN
    if (state === SHOWN) this.#byKey.set(key, row)
    if (key === place.key && state === this.rows.state[row]) return
    const weight = this.#room.weightOf(text)
    this.#room.reweigh(place.member.holder, weight - place.weight)
    this.#places[row] = { ...place, key, weight }
    this.rows.relabel(row, state, text)
    for (const column of this.columns) for (const lines of column.lines) lines.invalidate(row)
  }

  #memberOf({ source, page }: Batch): Member {
    const known = this.#members.get(source)
    if (known !== undefined) return known
    const types = { declared: this.#declaredType, shown: this.type }
    const member = createMember(types, source, page?.client, this.#added)
    this.#members.set(source, member)
    const owner = ownerOf(source)
    this.#owners.set(owner, (this.#owners.get(owner) ?? new Set()).add(member))
    return member
  }

  /** The members of a source and of its predecessors. */
  #membersOf(source: SourceInfo): readonly Member[] {
    return [...(this.#owners.get(ownerOf(source)) ?? [])]
  }

  /** Copies the labels that rows of predecessors use. False if more remain. */
  #keepLabels(successor: Member): boolean {
    for (const member of this.#membersOf(successor.source)) {
      if (member === successor || member.source.symbols === member.kept) continue
      member.kept ??= new KeptLabels()
      if (!member.kept.takeFrom(member.source.symbols, this.type, this.rows, member.rows)) return false
      this.#members.delete(member.source)
      member.source = { ...member.source, symbols: member.kept }
      this.#members.set(member.source, member)
      member.texts?.readLabelsOf(member.kept)
      this.#label(member)
      if (member.declared !== undefined) member.declared.labels = new LabelText(this.#declaredType, member.source)
    }
    return true
  }

  #label(member: Member): void {
    member.labels = new LabelText(this.type, member.source, this.#added, member.texts)
  }

  #forget(member: Member): void {
    this.#members.delete(member.source)
    const owner = ownerOf(member.source)
    const members = this.#owners.get(owner)
    members?.delete(member)
    if (members?.size === 0) this.#owners.delete(owner)
  }

  /**
   * Moves the row of a series to the successor of its source. The row is unchanged, so that readers see no gap. −1 if
   * there is no such row.
   */
  #takeOver(member: Member, views: Views, offset: number, text: string): number {
    const row = this.#byKey.get(keyOfText(text)) ?? -1
    const place = this.#places[row]
    if (place === undefined || place.member === member) return -1
    if (ownerOf(place.member.source) !== ownerOf(member.source)) return -1
    this.#leave(row, place)
    this.#room.addRow(place.member.holder, place.weight, -1)
    this.#room.addRow(member.holder, place.weight, 1)
    this.#enter(row, member, views, offset, place)
    return row
  }

  /** Gives the row of a new series with labels of a text. */
  #open(member: Member, views: Views, offset: number, text: string, weight: number): number {
    const row = this.#free.pop() ?? this.rows.append()
    const key = keyOfText(text)
    this.#enter(row, member, views, offset, { key, weight })
    const shown = !this.#byKey.has(key)
    if (shown) this.#byKey.set(key, row)
    this.rows.open(row, shown ? SHOWN : DUPLICATE, text)
    this.#room.addRow(member.holder, weight, 1)
    this.#changed = true
    return row
  }

  /** A row is that of the series of a record, for a source. */
  #enter(
    row: number,
    member: Member,
    views: Views,
    offset: number,
    { key, weight }: Pick<RowLocation, 'key' | 'weight'>,
  ): void {
    const id = member.index.of(views, offset)
    member.rows[id] = row
    const { declared } = member
    const declaredKey = declared === undefined ? key : keyOfText(declared.labels.of(views, offset))
    this.#places[row] = { member, id, key, declaredKey, weight }
    declared?.rows.set(declaredKey, (declared.rows.get(declaredKey) ?? new Set()).add(row))
  }

  /** Removes a row from its source. */
  #leave(row: number, { member, id, declaredKey }: RowLocation): void {
    member.index.forget(id)
    member.rows[id] = -1
    const alike = member.declared?.rows.get(declaredKey)
    alike?.delete(row)
    if (alike?.size === 0) member.declared?.rows.delete(declaredKey)
    if (member.index.count === 0) this.#forget(member)
  }

  #close(row: number): void {
    const place = this.#places[row]
    if (place === undefined || this.rows.state[row] === FREE) return
    if (this.#byKey.get(place.key) === row) this.#byKey.delete(place.key)
    this.#leave(row, place)
    this.rows.close(row)
    this.#room.addRow(place.member.holder, place.weight, -1)
    // Without a scrape nothing leaves `#left`: rows that came and left since the last would add up.
    if (this.rows.shown.visible[row] === 1) this.#left.push(row)
    else this.#free.push(row)
    this.#changed = true
  }

  /** Shows a duplicate once the row that was before it has left or has expired. */
  #promote(row: number, expiredMs: number): void {
    const { key } = this.#places[row]!
    const before = this.#byKey.get(key)
    if (before !== undefined && this.rows.seenMs[before]! > expiredMs) return
    if (before !== undefined) this.#close(before)
    this.#byKey.set(key, row)
    this.rows.promote(row)
    this.#changed = true
  }
}
