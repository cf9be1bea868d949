import type { RecordType, Slot } from '@sonde/sdk'

/**
 * How a field is filled from the numbers of a device: the sum of numbers times whole factors, exact to 64 bits, plus what there was at the epoch; or a fraction; or the
 * bins of a histogram, each with its share of a number.
 */
export type Column =
  | { readonly sum: readonly (readonly [number: number, factor: number])[]; readonly since?: number }
  | { readonly fraction: number; readonly factor?: number }
  | { readonly bins: number; readonly shares: readonly number[] }

/** Columns by field. Fields that are neither here nor among the facts of a row are absent. */
export type Columns = Readonly<Record<string, Column>>

/** A whole number, as it is. */
export function whole(number: number): Column {
  return { sum: [[number, 1]] }
}

/** A number that need not be whole; `factor` changes its unit. */
export function fraction(number: number, factor = 1): Column {
  return { fraction: number, factor }
}

/** A sum of whole numbers times whole factors. */
export function sum(...terms: readonly (readonly [number: number, factor: number])[]): Column {
  return { sum: terms }
}

/** A field that always has the same value. */
export function constant(value: number): Column {
  return { sum: [], since: value }
}

/** A column where it is to be written. */
export interface PlacedColumn {
  readonly slot: Slot
  readonly column: Column
}

/** Columns with the slots of their fields. A field that the type has not is a fault of the program. */
export function placeColumns(type: RecordType, columns: Columns): PlacedColumn[] {
  return Object.entries(columns).map(([name, column]) => {
    const slot = type.layout.slots.find((one) => one.name === name)
    if (slot === undefined) throw new Error(`type ${type.name} has no field ${name}`)
    return { slot, column }
  })
}
