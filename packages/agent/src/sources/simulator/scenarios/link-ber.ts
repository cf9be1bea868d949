import type { EffectEvent, EffectSpan, NicEffect } from '../effects.ts'
import { onDevice, type Scenario, type Strike } from './scenario.ts'

/**
 * Error rates over the scenario and their starts as shares of its duration: days of ageing in minutes. The first rates
 * are those of a healthy link.
 */
const STEPS = [
  { rate: 1e-7, share: 0 },
  { rate: 1e-6, share: 0.01 },
  { rate: 1e-5, share: 0.25 },
]
const WORST_SHARE = 0.5
const WORST_LANE = 2
/** Error rate from which correction fails. */
const CLIFF = 2e-5
/** Loss of power and increase of current for each step. */
const STEP_DB = -0.5
const STEP_BIAS = 0.06
const RECOVERIES = 3

/** 4.6: an ageing optic. */
export const linkBer: Scenario = {
  name: 'link-ber',
  summary: 'An optic ages: one lane has more and more bit errors, until correction fails and packets are lost',
  target: 'nic',
  usualIndex: 3,
  severity: { unit: 'bit error rate in the end', min: 0.000001, max: 0.0001, default: 0.00003 },
  durationS: 300,
  fits: () => true,
  effects: (strike) => ({ spans: spansOf(strike), events: recoveries(strike) }),
}

function spansOf(strike: Strike): EffectSpan[] {
  const { onsetS, endS, severity } = strike
  const steps = [...STEPS.filter(({ rate }) => rate < severity), { rate: severity, share: WORST_SHARE }]
  return steps.map(({ rate, share }, at) => {
    const next = steps[at + 1]?.share ?? 1
    const seconds = (of: number) => onsetS + of * (endS - onsetS)
    return onDevice(strike, seconds(share), seconds(next), agedBy(at, rate))
  })
}

function agedBy(steps: number, rate: number): NicEffect {
  const aged = { bitErrorRate: rate, rxPowerDb: STEP_DB * steps, biasFactor: 1 + STEP_BIAS * steps }
  if (rate < CLIFF) return { ...aged, worstLane: WORST_LANE }
  const excess = rate / CLIFF
  return { ...aged, worstLane: WORST_LANE, effectiveErrorsPerS: 20 * excess ** 2, lossShare: 2e-6 * excess }
}

/** Once correction fails, the link sometimes trains again. */
function recoveries({ device, onsetS, endS, severity }: Strike): EffectEvent[] {
  if (severity < CLIFF) return []
  return Array.from({ length: RECOVERIES }, (_, at): EffectEvent => {
    const share = WORST_SHARE + ((at + 0.5) / RECOVERIES) * (1 - WORST_SHARE)
    return { atS: onsetS + share * (endS - onsetS), nic: device.index, kind: 'link_recovery' }
  })
}
