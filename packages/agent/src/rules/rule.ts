/** What a rule looks at: one field of one type, of one series a device. */
export interface Signal {
  /** Free text of the file; unique in it. */
  readonly name: string
  /** Name of the type: `doca_diag_sample` for samples of a NIC, or any type that is reported. */
  readonly type: string
  /** Name of the field. */
  readonly field: string
  /** Labels that a series must have, beside its device. */
  readonly labels: Readonly<Record<string, string>>
  /** ID of a diagnostic counter, where the file gave that; `type` and `field` are those of its samples. */
  readonly dataId?: bigint
}

/**
 * When a rule holds. `value` is a whole number of 64 bits for integer fields, and any number for others. A rule begins
 * after `onSamples` matches in a row, and ends after `offSamples` samples in a row that do not match; both from 1.
 */
export type Test =
  /** The value is above, or below. */
  | {
      readonly kind: 'gt' | 'lt'
      readonly value: bigint | number
      readonly onSamples: number
      readonly offSamples: number
    }
  /** The value reached that of the last time that it fired, plus `value`. Begins and ends with single samples. */
  | { readonly kind: 'inc_gt'; readonly value: bigint | number }
  /** The increase over so many samples is above, or below. Begins at once. */
  | {
      readonly kind: 'dt_gt' | 'dt_lt'
      readonly value: bigint | number
      readonly overSamples: number
      readonly offSamples: number
    }
  /** The increase a second, over a stretch of time, is above, or below. Begins at once. */
  | {
      readonly kind: 'rate_gt' | 'rate_lt'
      readonly perSecond: number
      readonly overNs: number
      readonly offSamples: number
    }
  /** There was no sample for so long. Ends with the next sample. */
  | { readonly kind: 'absent'; readonly forNs: number }
  /** The value is another than that of the sample before. */
  | { readonly kind: 'change'; readonly offSamples: number }
  /**
   * The value, divided by that of another signal of the same record, is above, or below; with `overSamples` above 0 the
   * increases over so many samples are divided. Dividing by 0 matches neither.
   */
  | {
      readonly kind: 'ratio_gt' | 'ratio_lt'
      readonly value: number
      /** Index of the other signal. */
      readonly to: number
      readonly overSamples: number
      readonly onSamples: number
      readonly offSamples: number
    }
  /** The quantile of the last samples, exactly (nearest rank), is above, or below. Begins at once. */
  | {
      readonly kind: 'quantile_gt' | 'quantile_lt'
      readonly quantile: number
      readonly value: bigint | number
      readonly overSamples: number
      readonly offSamples: number
    }

/** A rule on one signal. */
export interface SignalRule {
  /** Free text of the file; unique in it, but for `--compat`. */
  readonly name: string
  /** Index of its signal. */
  readonly signal: number
  readonly test: Test
}

/** A rule that holds while others do, each of which began within a time of the others. */
export interface CombinationRule {
  readonly name: string
  readonly of: 'all' | 'any'
  /** Indexes of the rules that it combines: none of them a combination. */
  readonly rules: readonly number[]
  /** Beginnings that lie further apart do not belong together. */
  readonly withinNs: number
}

export type Rule = SignalRule | CombinationRule

/** A file of rules, as it was understood. */
export interface RuleBook {
  /** Wanted of the device. Unit: nanoseconds. 0 if no signal is a diagnostic counter. */
  readonly samplePeriodNs: number
  /** Samples that are kept of the time before an event; twice as many are in its first dump. */
  readonly historySamples: number
  /** In the order of the file: data IDs, then other signals. */
  readonly signals: readonly Signal[]
  /** In the order of the file. */
  readonly rules: readonly Rule[]
}
