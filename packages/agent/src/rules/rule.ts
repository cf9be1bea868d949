/** The input of a rule: one field of one type, with one series for each device. */
export interface Signal {
  /** Free text of the file; unique in it. */
  readonly name: string
  /** Name of the type: `doca_diag_sample` for samples of a NIC, or any other reported type. */
  readonly type: string
  /** Name of the field. */
  readonly field: string
  /** Labels that a series must have in addition to its device. */
  readonly labels: Readonly<Record<string, string>>
  /** ID of a diagnostic counter, if the file gave an ID. `type` and `field` are then those of its samples. */
  readonly dataId?: bigint
}

/**
 * When a rule holds. `value` is a whole number of 64 bits for integer fields, and any number for others. A rule begins
 * after `onSamples` consecutive matches, and ends after `offSamples` consecutive samples that do not match. Both are at
 * least 1.
 */
export type Test =
  /** The value is above or below. */
  | {
      readonly kind: 'gt' | 'lt'
      readonly value: bigint | number
      readonly onSamples: number
      readonly offSamples: number
    }
  /** The value has reached the value of the last firing plus `value`. Begins and ends with single samples. */
  | { readonly kind: 'inc_gt'; readonly value: bigint | number }
  /** The increase over `overSamples` samples is above or below. Begins at once. */
  | {
      readonly kind: 'dt_gt' | 'dt_lt'
      readonly value: bigint | number
      readonly overSamples: number
      readonly offSamples: number
    }
  /** The increase per second over a time window is above or below. Begins at once. */
  | {
      readonly kind: 'rate_gt' | 'rate_lt'
      readonly perSecond: number
      readonly overNs: number
      readonly offSamples: number
    }
  /** No sample for `forNs`. Ends with the next sample. */
  | { readonly kind: 'absent'; readonly forNs: number }
  /** The value differs from the previous sample. */
  | { readonly kind: 'change'; readonly offSamples: number }
  /**
   * The value divided by another signal of the same record is above or below. With `overSamples` above 0, the increases
   * over this number of samples are divided. Division by 0 never matches.
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
  /** The exact quantile of the last samples (nearest rank) is above or below. Begins at once. */
  | {
      readonly kind: 'quantile_gt' | 'quantile_lt'
      readonly quantile: number
      readonly value: bigint | number
      readonly overSamples: number
      readonly offSamples: number
    }

/** A rule on one signal. */
export interface SignalRule {
  /** Free text of the file; unique in it except with `--compat`. */
  readonly name: string
  /** Index of its signal. */
  readonly signal: number
  readonly test: Test
}

/** A rule that holds while other rules hold that began within a time of each other. */
export interface CombinationRule {
  readonly name: string
  readonly of: 'all' | 'any'
  /** Indexes of the rules that it combines. Combinations cannot be combined. */
  readonly rules: readonly number[]
  /** Beginnings that are further apart do not belong together. */
  readonly withinNs: number
}

export type Rule = SignalRule | CombinationRule

/** The content of a file of rules. */
export interface RuleBook {
  /** The requested sample period of the device. Unit: nanoseconds. 0 if no signal is a diagnostic counter. */
  readonly samplePeriodNs: number
  /** Samples that are kept from before an event. The first dump of an event has twice as many. */
  readonly historySamples: number
  /** In the order of the file: data IDs, then other signals. */
  readonly signals: readonly Signal[]
  /** In the order of the file. */
  readonly rules: readonly Rule[]
}
