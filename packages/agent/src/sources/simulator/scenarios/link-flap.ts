import type { EffectEvent, EffectSpan } from '../effects.ts'
import { onDevice, RETRY_S, repeats, type Scenario, type Strike, xidEverywhere } from './scenario.ts'

const PERIOD_S = 20
/** Time after which connections give up. */
const GIVE_UP_S = 34
/** XID of the clean-up after a job. */
const CLEAN_UP_XID = 45

/** 4.5: a link that goes down and comes back. */
export const linkFlap: Scenario = {
  name: 'link-flap',
  summary: 'The link of one NIC goes down again and again; everyone waits until its connections try again',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'seconds down each time', min: 0.5, max: 60, default: 4 },
  durationS: 60,
  fits: () => true,
  effects: (strike) => {
    const { onsetS, endS, severity } = strike
    if (severity > GIVE_UP_S) return givenUp(strike)
    const starts = repeats(onsetS, endS, Math.max(PERIOD_S, severity * 2))
    return { spans: starts.flatMap((fromS) => flap(strike, fromS)) }
  },
}

/** The link is down, and silent until the next retry. */
function flap(strike: Strike, fromS: number): EffectSpan[] {
  const upS = fromS + strike.severity
  const retriedS = fromS + Math.ceil(strike.severity / RETRY_S) * RETRY_S
  return [onDevice(strike, fromS, upS, { link: 'down' }), { fromS: upS, toS: retriedS, job: { state: 'stuck' } }]
}

/** The link is down until connections give up, which ends the job. */
function givenUp(strike: Strike): { spans: EffectSpan[]; events: EffectEvent[] } {
  const { onsetS, endS, severity, device } = strike
  const lostS = onsetS + GIVE_UP_S
  return {
    spans: [
      onDevice(strike, onsetS, onsetS + severity, { link: 'down' }),
      { fromS: lostS + 1, toS: endS, job: { state: 'idle' } },
    ],
    events: [
      { atS: lostS, nic: device.index, kind: 'retries_exceeded' },
      ...xidEverywhere(strike, lostS + 0.5, CLEAN_UP_XID),
    ],
  }
}
