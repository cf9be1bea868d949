import type { NumberClass } from '../prometheus/lanes.ts'

/** Whether a value of a sum or histogram counts since its start or since the point before. */
export type Temporality = 'cumulative' | 'delta'

/** Whether a record has a point. `ended`: a point that says that the series has no value any more. */
export const PRESENT = { no: 0, value: 1, ended: 2 } as const

/** A metric of a type. */
export interface OtlpMetric {
  readonly name: string
  readonly description: string
  /** Unit in the spelling of UCUM, such as `By`; empty without unit. */
  readonly unit: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly columns: readonly OtlpColumn[]
}

/** The points of one field, or of fields that take turns: each record with a value has one point for each element. */
export interface OtlpColumn {
  /** How the words of a value are read. */
  readonly numbers: NumberClass
  /** Values of a record: elements of an array; the bins of a histogram, and its sum if there is one. */
  readonly width: number
  /** Constant attributes of each element, encoded as fields of a point. */
  readonly elements: readonly Uint8Array[]
  /** Upper edges of the bins of a histogram, without the last bin; empty for other kinds. */
  readonly edges: readonly number[]
  /** How the words of the sum of a histogram are read; undefined without a sum. */
  readonly sum: NumberClass | undefined
}

/** The values of a column for the records of a block. */
export interface ColumnValues {
  /** Low and high words; the values of record `i` are at `i * width`. */
  readonly low: Uint32Array
  readonly high: Uint32Array
  /** For each record, a {@link PRESENT}. */
  readonly present: Uint8Array
  /** Start times in two words each, low first; undefined for gauges. Unit: nanoseconds since the Unix epoch. */
  readonly starts: Uint32Array | undefined
}

/** Consecutive records of a batch with all that their points need. */
export interface PointBlock {
  /** `Resource`, encoded. Blocks of one resource have the same object. */
  readonly resource: Uint8Array
  /** `InstrumentationScope`, encoded. Blocks of one scope have the same object, and the same metrics. */
  readonly scope: Uint8Array
  readonly metrics: readonly OtlpMetric[]
  /** The values of each column, in the order of the metrics and their columns. */
  readonly values: readonly ColumnValues[]
  /** Attributes of each record, encoded as fields of a point. */
  readonly attributes: readonly Uint8Array[]
  /** The same as fields of a histogram's point; empty if no metric is a histogram. */
  readonly histogramAttributes: readonly Uint8Array[]
  /** Times of the records in two words each, low first. Unit: nanoseconds since the Unix epoch. */
  readonly times: Uint32Array
  /** The first record, and the first behind the last. */
  readonly from: number
  readonly to: number
}
