/** A call that is over its limit and has not come back. */
export interface StuckCall {
  /** Device that is asked; empty if the source has none. */
  readonly device: string
  /** Name of the duty. */
  readonly duty: string
  /** When the call was made. Unit: milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Longest that it may take. Unit: milliseconds. */
  readonly limitMs: number
  /** Key of the configuration that sets the limit; empty if the source itself sets it. */
  readonly limitKey: string
}

/** A stuck call as people are told of it. */
export interface ToldStuck extends StuckCall {
  /** Why it counts as stuck, in words. */
  readonly reason: string
  /** What to do, in words. */
  readonly fix: string
}

/** A stuck call with its reason and what to do. */
export function toldStuck(call: StuckCall): ToldStuck {
  const { device, duty, limitMs, limitKey } = call
  const driver = device === '' ? 'the driver' : `the driver of ${device}`
  const raise = limitKey === '' ? '' : `; where the call only takes longer, raise ${limitKey}`
  return {
    ...call,
    reason: `the call ${duty} took more than ${limitMs} ms`,
    fix: `look in dmesg why ${driver} does not answer${raise}`,
  }
}
