import type { TypeDefinition } from '../schema/fingerprint.ts'

/** The series of one type from one source. */
export interface SeriesRate {
  /** Name of the source. */
  readonly source: string
  /** Tag of the source; empty if it has none. */
  readonly tag: string
  /** Fingerprint of the type. */
  readonly type: string
  /** Sets of labels with a record in the last minute. */
  readonly series: number
  /** Records of all these series. Unit: records per second. */
  readonly recordsPerS: number
  /** How many of the series have a value, by the field. Only fields with a metric. */
  readonly present: Readonly<Record<string, number>>
}

/** What `GET /api/v1/rates` answers. */
export interface RatesAnswer {
  readonly types: readonly { readonly fingerprint: string; readonly definition: TypeDefinition }[]
  readonly rates: readonly SeriesRate[]
  /** Types that are not listed, because the answer would be too large. */
  readonly leftOut: number
}
