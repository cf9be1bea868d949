import type { RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import type { Vector } from '../model/vector.ts'

/** A sum of counters, each with a factor: exact to 64 bits if the factors are whole. */
export type Sum<Counter extends string> = [Counter] extends [never] ? never : { readonly [Name in Counter]?: number }

/** Bins of a histogram, each with its share of a counter. */
export interface Bins<Counter extends string> {
  readonly bins: Counter
  readonly shares: readonly number[]
}

/**
 * Value of a field: a constant; a function of the reader, NaN if the value is absent; the name of a counter of the
 * model; or a sum of counters.
 */
export type ReportColumn<Reader, Counter extends string = never> =
  | number
  | ((reader: Reader, counters: Float64Array) => number)
  | Counter
  | Sum<Counter>
  | Bins<Counter>

/** Columns by field. Fields without a column that are not facts of the row are absent. */
export type Columns<Type extends RecordType, Reader, Counter extends string = never> = {
  readonly [Field in keyof Type['fields']]?: ReportColumn<Reader, Counter>
}

/** Columns of any type. */
export type AnyColumns<Reader> = Readonly<Record<string, ReportColumn<Reader, string>>>

/** Columns of counters that stay at zero; names are given without `_total`. */
export function zeros<const Name extends string>(...names: readonly Name[]): { readonly [N in `${Name}_total`]: 0 } {
  return Object.fromEntries(names.map((name) => [`${name}_total`, 0])) as { [N in `${Name}_total`]: 0 }
}

/** A column bound to its slot and to the indexes of its counters, so that no name is looked up at run time. */
export interface PlacedColumn<Reader> {
  readonly slot: Slot
  /** Undefined if the value is the sum of `terms`. */
  readonly read: ((reader: Reader, counters: Float64Array) => number) | undefined
  readonly terms: readonly (readonly [place: number, factor: number])[]
  /** Shares of the bins of a histogram. */
  readonly shares: readonly number[] | undefined
}

/** Changing columns, and the initial values of all columns. */
export interface PlacedColumns<Reader> {
  readonly changing: readonly PlacedColumn<Reader>[]
  readonly start: Readonly<Record<string, number | readonly number[]>>
}

/** The slot of a field. A field without a slot is a programming error. */
export function slotOf(type: RecordType, field: string): Slot {
  const slot = type.layout.slots.find(({ name }) => name === field)
  if (slot === undefined) throw new Error(`type ${type.name} has no field ${field}`)
  return slot
}

/** Binds columns to the slots of a type; `places` are the indexes of the counters in the columns. */
export function placeColumns<Reader>(
  type: RecordType,
  columns: AnyColumns<Reader>,
  places: Vector<string>,
): PlacedColumns<Reader> {
  const start: Record<string, number | readonly number[]> = {}
  const changing = Object.entries(columns).flatMap(([field, column]) => {
    const slot = slotOf(type, field)
    const { count } = slot.field
    start[field] = typeof column === 'number' ? column : count > 1 ? Array(count).fill(0) : 0
    return typeof column === 'number' ? [] : [placeColumn(slot, column, places)]
  })
  return { changing, start }
}

function placeColumn<Reader>(
  slot: Slot,
  column: Exclude<ReportColumn<Reader, string>, number>,
  places: Vector<string>,
): PlacedColumn<Reader> {
  const counterIndex = (counter: string) => places[counter] as number
  const placed = { slot, read: undefined, terms: [], shares: undefined }
  if (typeof column === 'function') return { ...placed, read: column }
  if (typeof column === 'string') {
    const place = counterIndex(column)
    return { ...placed, read: (_, counters) => counters[place] as number }
  }
  if ('shares' in column) {
    const { bins, shares } = column as Bins<string>
    return { ...placed, terms: [[counterIndex(bins), 1]], shares }
  }
  const terms = Object.entries(column as Readonly<Record<string, number>>)
  return { ...placed, terms: terms.map(([counter, factor]) => [counterIndex(counter), factor]) }
}
