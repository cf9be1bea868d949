import type { ListedStuckCall } from '@sonde/sdk/api'

/** A call that is over its limit and has not come back, without words for people. */
export type StuckCall = Omit<ListedStuckCall, 'reason' | 'fix'>

/** A stuck call with its reason and what to do. */
export function toldStuck(call: StuckCall): ListedStuckCall {
  const { device, duty, limitMs, limitKey } = call
  const driver = device === '' ? 'the driver' : `the driver of ${device}`
  const raise = limitKey === '' ? '' : `; where the call only takes longer, raise ${limitKey}`
  return {
    ...call,
    reason: `the call ${duty} took more than ${limitMs} ms`,
    fix: `look in dmesg why ${driver} does not answer${raise}`,
  }
}
