import type { EffectSpan, NicEffect } from '../effects.ts'
import { onDevice, repeats, type Scenario, type Strike } from './scenario.ts'

/** Time until pauses spread through the fabric. */
const SPREAD_S = 0.05
/** Share of the source's pauses that reach others. */
const VICTIM_SHARE = 0.5
/**
 * From this share on, pauses are long enough to trigger the adapter's guard. It first warns, and then switches pauses
 * off.
 */
const GUARD_SHARE = 0.8
/** Longest wait of the guard, and how long pauses stay off. */
const GUARD_S = 8
const OFF_S = 4
/** Packets dropped for lack of a buffer while pauses are off. Unit: packets per second. */
const DISCARDS_PER_S = 60_000

/** 4.3: a NIC that cannot drain its buffers pauses all senders. */
export const pfcStorm: Scenario = {
  name: 'pfc-storm',
  summary: 'One NIC does not drain and tells its peers to pause; the pauses spread to the other rails',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'share of time', min: 0.3, max: 1, default: 0.6 },
  durationS: 120,
  effects: (strike) => ({ spans: [...sourceSpans(strike), victims(strike)] }),
}

function sourceSpans(strike: Strike): EffectSpan[] {
  const { onsetS, endS, severity } = strike
  const source: NicEffect = { txPausedShare: severity, stalledShare: 0.5 + 0.4 * severity }
  if (severity < GUARD_SHARE) return [onDevice(strike, onsetS, endS, source)]
  const warning: NicEffect = { ...source, stormWarningsPerS: 1 }
  return repeats(onsetS, endS, GUARD_S + OFF_S).flatMap((fromS) => {
    const offS = fromS + GUARD_S
    const error: NicEffect = { ...warning, stormErrorsPerS: 4 }
    const off: NicEffect = { stalledShare: source.stalledShare ?? 0, discardsPerS: DISCARDS_PER_S }
    return [
      onDevice(strike, fromS, offS - 0.25, warning),
      onDevice(strike, offS - 0.25, offS, error),
      onDevice(strike, offS, offS + OFF_S, off),
    ]
  })
}

/** The other rails are paused, and lose nothing. */
function victims({ node, device, onsetS, endS, severity }: Strike): EffectSpan {
  const others = node.nics.filter(({ index, role }) => role === 'training' && index !== device.index)
  const effect: NicEffect = { rxPausedShare: VICTIM_SHARE * severity }
  const nics = Object.fromEntries(others.map(({ index }) => [index, effect]))
  return { fromS: onsetS + SPREAD_S, toS: endS, nics }
}
