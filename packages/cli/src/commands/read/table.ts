import { type Batch, isPresent, type RecordType } from '@sonde/sdk'
import { countOf, printable, type Slot } from '@sonde/sdk/internal'
import { columnsWithin, lineOf, type TextColumn, widthsOf } from './columns.ts'
import { onceForType, type ReadFormat, type RecordSlice } from './format.ts'
import { hasLabels, labelTexts } from './labels.ts'
import { elementText, type FieldText, isText, quotedText } from './values.ts'

/** Rows that are read before the widths of columns are set. */
const SAMPLE_ROWS = 100
const ARRAY_ELEMENTS_SHOWN = 4

/**
 * Lines for people: a head, then one line for each record, as wide as the terminal. Fields that do not fit are named. A
 * new head is printed when the type changes, or whether sources have labels.
 */
export function table(lineCharacters: () => number): ReadFormat {
  const cellsOf = onceForType(cellTexts)
  let section: Section | undefined
  return {
    records(chosen) {
      let text = ''
      if (section === undefined || !section.takes(chosen)) {
        text = section === undefined ? '' : `${section.rest()}\n`
        section = new Section(chosen, lineCharacters())
      }
      return text + section.add(rowsOf(chosen, cellsOf(chosen)))
    },
    rest: () => section?.rest() ?? '',
  }
}

/** Adjacent records of one type. */
class Section {
  readonly #of: Pick<RecordSlice, 'slots'> & { readonly type: RecordType; readonly isLabelled: boolean }
  readonly #columns: readonly TextColumn[]
  readonly #lineCharacters: number
  #rows: string[][] = []
  #widths: number[] | undefined

  constructor({ batch: { type, source }, slots }: RecordSlice, lineCharacters: number) {
    const isLabelled = hasLabels(source)
    this.#of = { type, slots, isLabelled }
    this.#lineCharacters = lineCharacters
    const fields = slots.map((slot) => ({ title: slot.name, isNumber: isNumber(slot, type) }))
    const labels = isLabelled ? [{ title: 'labels', isNumber: false }] : []
    this.#columns = [{ title: 'source', isNumber: false }, ...labels, ...fields]
  }

  takes({ batch, slots }: RecordSlice): boolean {
    const { type, slots: shown, isLabelled } = this.#of
    return type === batch.type && shown === slots && isLabelled === hasLabels(batch.source)
  }

  add(rows: readonly string[][]): string {
    this.#rows.push(...rows)
    return this.#widths === undefined && this.#rows.length < SAMPLE_ROWS ? '' : this.rest()
  }

  rest(): string {
    if (this.#rows.length === 0) return ''
    const head = this.#widths === undefined ? this.#head() : ''
    const widths = this.#widths ?? []
    const columns = this.#columns.slice(0, widths.length)
    const lines = this.#rows.map((row) => `${lineOf(columns, widths, row)}\n`)
    this.#rows = []
    return head + lines.join('')
  }

  #head(): string {
    const widths = widthsOf(this.#columns, this.#rows)
    const shown = columnsWithin(widths, this.#lineCharacters)
    this.#widths = widths.slice(0, shown)
    const columns = this.#columns.slice(0, shown)
    const left = this.#columns.slice(shown).map(({ title }) => title)
    const named = `, and no room for ${countOf(left.length, 'field')}: ${left.join(' ')}`
    const more = left.length === 0 ? '' : cut(named, this.#lineCharacters - this.#of.type.name.length)
    const titles = columns.map(({ title }) => title)
    return `${this.#of.type.name}${more}\n${lineOf(columns, this.#widths, titles)}\n`
  }
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, Math.max(1, characters - 1))}…`
}

function isNumber(slot: Slot, type: RecordType): boolean {
  return !isText(slot) && slot.field.count === 1 && slot.field.kind !== 'bool' && slot !== type.time
}

function rowsOf({ batch, slots, views, offsets }: RecordSlice, cells: readonly CellText[]): string[][] {
  const { type, source, clock, symbols } = batch
  const name = printable(source.tag === '' ? source.id : `${source.id}/${source.tag}`)
  const labels = hasLabels(source) ? [printable(labelTexts(source).join(' '))] : []
  return offsets.map((offset) => [
    name,
    ...labels,
    ...slots.map((slot, i) => {
      if (!isPresent(type.layout, slot, views, offset)) return '-'
      return cells[i]?.(clock)(views, offset, symbols) ?? ''
    }),
  ])
}

type CellText = (clock: Batch['clock']) => FieldText

function cellTexts({ time }: RecordType, slots: readonly Slot[]): CellText[] {
  return slots.map((slot) => {
    if (isText(slot)) return always(quotedText(slot, printable))
    const plain = listText(slot)
    if (slot !== time) return always(plain)
    const factor = slot.field.resolution === 'us' ? 1000n : 1n
    const wall: FieldText = (views, offset) => timeText(views.data.getBigUint64(offset + slot.offset, true) * factor)
    return (clock) => (clock === 'wall' ? wall : plain)
  })
}

function always(text: FieldText): CellText {
  return () => text
}

/** A number; for an array its first elements. */
function listText({ field, offset: at, bytes }: Slot): FieldText {
  const element = elementText(field.kind)
  const width = bytes / field.count
  if (field.count === 1) return (views, offset) => element(views.data, offset + at)
  return (views, offset) => {
    const shown = Array.from({ length: Math.min(field.count, ARRAY_ELEMENTS_SHOWN) }, (_, i) =>
      element(views.data, offset + at + i * width),
    )
    return `[${shown.join(' ')}${field.count > shown.length ? ' …' : ''}]`
  }
}

/**
 * Nanoseconds since the Unix epoch as ISO 8601 in UTC, without trailing zeros. Times that ISO 8601 cannot write are
 * plain digits.
 */
export function timeText(ns: bigint): string {
  const date = new Date(Number(ns / 1_000_000_000n) * 1000)
  if (Number.isNaN(date.getTime())) return `${ns}`
  const fraction = String(ns % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return `${date.toISOString().slice(0, -5)}${fraction === '' ? '' : `.${fraction}`}Z`
}
