import type { Labels, SourceInfo, Views } from '@sonde/sdk'
import { labelsOf, SeriesIndex } from '@sonde/sdk/internal'
import type { StoredSeries, StoredType } from './store-catalogue.ts'

/** A series that was refused because of a limit. */
export const REFUSED: StoredSeries = { id: -1, labels: {}, seenHour: 0 }

/** Returns the series of labels. It stores a new series, or only looks it up. `symbols` are the ids of their texts. */
export type SeriesLookup = (typeName: string, labels: Labels, symbols: readonly number[]) => StoredSeries | undefined

/** Finds the series of records of one type from one writer. */
export class SeriesResolver {
  readonly #stored: StoredType
  readonly #source: SourceInfo
  readonly #index: SeriesIndex
  readonly #series: StoredSeries[] = []
  /** Numbers of refused series. */
  #refused: number[] = []

  constructor(stored: StoredType, source: SourceInfo) {
    this.#stored = stored
    this.#source = source
    this.#index = new SeriesIndex(stored.type)
  }

  /**
   * The series of the record. An unknown series is requested from `lookup`; undefined if there is none. {@link REFUSED}
   * is remembered until {@link forgetRefused}.
   */
  of(views: Views, offset: number, lookup: SeriesLookup): StoredSeries | undefined {
    return this.at(this.#numberOf(views, offset, lookup))
  }

  /**
   * The series of `count` adjacent records, at most `SeriesIndex.foundMax`: for each its number for {@link at}. The
   * array is reused by the next call; a number is valid until {@link forgetRefused}.
   */
  numbersOf(views: Views, offset: number, count: number, lookup: SeriesLookup): Int32Array {
    const { recordBytes } = this.#stored.type.layout
    const found = this.#index.findEach(views, offset, recordBytes, count)
    let isKnown = true
    for (let i = 0; i < count; i++) {
      // Results for later records may be invalid after a new series is added.
      isKnown &&= this.at(found[i] ?? -1) !== undefined
      if (!isKnown) found[i] = this.#numberOf(views, offset + i * recordBytes, lookup)
    }
    return found
  }

  /** The series of a number; undefined if a record has none. */
  at(number: number): StoredSeries | undefined {
    return number < 0 ? undefined : this.#series[number]
  }

  #numberOf(views: Views, offset: number, lookup: SeriesLookup): number {
    const number = this.#index.of(views, offset)
    if (this.#series[number] !== undefined) return number
    const { type } = this.#stored
    const series = lookup(type.name, labelsOf(type, this.#source, views, offset), this.#symbolsOf(views, offset))
    if (series === undefined) {
      this.#index.forget(number)
      return -1
    }
    this.#series[number] = series
    if (series === REFUSED) this.#refused.push(number)
    return number
  }

  #symbolsOf({ data }: Views, offset: number): number[] {
    const labels = this.#stored.type.labels.filter(({ field }) => field.kind === 'symbol')
    return labels.map((slot) => data.getUint32(offset + slot.offset, true))
  }

  /** The limit may have become free by now. */
  forgetRefused(): void {
    for (const number of this.#refused) {
      delete this.#series[number]
      this.#index.forget(number)
    }
    this.#refused = []
  }
}
