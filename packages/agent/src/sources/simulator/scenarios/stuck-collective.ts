import { ONE_DEGREE, type Scenario, xidEverywhere } from './scenario.ts'

/** Time after which the watchdog ends the job. */
const WATCHDOG_S = 480
const CLEAN_UP_XID = 45

/** 4.13: a collective that never ends. */
export const stuckCollective: Scenario = {
  name: 'stuck-collective',
  summary: 'A collective hangs: every GPU waits in a kernel at full use, and no byte moves',
  target: 'node',
  usualIndex: 0,
  severity: ONE_DEGREE,
  durationS: 180,
  effects: (strike) => {
    const { onsetS, endS } = strike
    const endedS = onsetS + WATCHDOG_S
    return {
      spans: [
        { fromS: onsetS, toS: Math.min(endS, endedS), job: { state: 'stuck' } },
        { fromS: endedS, toS: endS, job: { state: 'idle' } },
      ],
      events: xidEverywhere(strike, endedS, CLEAN_UP_XID),
    }
  },
}
