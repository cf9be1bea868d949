/** One reading of the device clock between two of the host's monotonic clock. Unit: nanoseconds, and ticks. */
export interface Bracket {
  readonly beforeNs: bigint
  readonly ticks: bigint
  readonly afterNs: bigint
}

/** The middle of a bracket, by the host's monotonic clock. */
export function middleOf({ beforeNs, afterNs }: Bracket): bigint {
  return (beforeNs + afterNs) / 2n
}

/** The error of a bracket. */
export function halfOf({ beforeNs, afterNs }: Bracket): bigint {
  return (afterNs - beforeNs + 1n) / 2n
}
