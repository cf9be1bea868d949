import type { TypeDescription } from '../schema/describe-type.ts'
import type { Labels } from '../schema/series.ts'

/** A type of which there are records to ask for. */
export interface ListedType extends TypeDescription {
  /** Whether records of it came in the last minutes. */
  readonly live: boolean
  /** The command that prints its records; empty if there is none. */
  readonly read: string
}

/** The reason of an absent value where its source gave no reason. */
export const UNTOLD_ABSENCE = 'Not in the last sample.'

/** One live series with its latest value. */
export interface LatestSeries {
  readonly metric: string
  readonly labels: Labels
  /** Exact, as text; of a histogram the count of all its bins. Null if it is absent. */
  readonly value: string | null
  readonly timeMs: number
  /** Why it is absent; empty if it is not. */
  readonly absent: string
  /** Of a histogram the upper edges of all bins but the last. Unit: that of the field. */
  readonly edges?: readonly number[]
}

/** What there is to ask a history for. */
export interface Catalogue {
  /** The types, one after the other; what has no room in a list is for the caller to leave out. */
  types(): Promise<{ readonly types: Iterable<ListedType>; readonly leftOut: number }>
  /** The latest value of every live series of a metric, or of every metric of a type. */
  series(wanted: { readonly metric?: string; readonly type?: string }): Promise<readonly LatestSeries[]>
}
