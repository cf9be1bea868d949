import { labelsOf, SeriesIndex, type SourceInfo, type Views } from '@sonde/sdk'
import type { Catalogue, StoredType } from './catalogue.ts'

/** Finds the series of records of one type from one writer. */
export class SeriesResolver {
  readonly #catalogue: Catalogue
  readonly #stored: StoredType
  readonly #source: SourceInfo
  readonly #index: SeriesIndex
  readonly #ids: number[] = []

  constructor(catalogue: Catalogue, stored: StoredType, source: SourceInfo) {
    this.#catalogue = catalogue
    this.#stored = stored
    this.#source = source
    this.#index = new SeriesIndex(stored.type)
  }

  /** Id of the record's series, stored at first sight; undefined where there are too many series. */
  of(views: Views, offset: number): number | undefined {
    const number = this.#index.of(views, offset)
    const known = this.#ids[number]
    if (known !== undefined) return known
    const { type } = this.#stored
    const id = this.#catalogue.seriesId(type.name, labelsOf(type, this.#source, views, offset))
    if (id === undefined) this.#index.forget(views, offset)
    else this.#ids[number] = id
    return id
  }
}
