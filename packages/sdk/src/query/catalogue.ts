import type { TypeDescription } from '../schema/describe-type.ts'
import type { Labels } from '../schema/series.ts'

/** A type with records in a history. */
export interface ListedType extends TypeDescription {
  /** Whether records arrived in the last minutes. */
  readonly live: boolean
  /** The command that prints its records; empty if there is none. */
  readonly read: string
}

/** The reason of an absent value if its source gave none. */
export const UNTOLD_ABSENCE = 'Not in the last sample.'

/** One live series with its latest value. */
export interface LatestSeries {
  readonly metric: string
  readonly labels: Labels
  /** The exact value as text; for a histogram, the sum of its bins. Null if it is absent. */
  readonly value: string | null
  readonly timeMs: number
  /** Why it is absent; empty if it is not. */
  readonly absent: string
  /** For a histogram: the upper edges of all bins but the last. Unit: that of the field. */
  readonly edges?: readonly number[]
}

/** The types and series of a history. */
export interface Catalogue {
  /** All types, as an iterator; the caller limits their number. */
  types(): Promise<{ readonly types: Iterable<ListedType>; readonly leftOut: number }>
  /** The latest value of every live series of a metric, or of every metric of a type. */
  series(wanted: { readonly metric?: string; readonly type?: string }): Promise<readonly LatestSeries[]>
}
