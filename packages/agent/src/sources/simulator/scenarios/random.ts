import { STREAM, uniform } from '../model/hash.ts'
import { cutEffects } from '../simulation.ts'
import { targetsOf } from './devices.ts'
import { repeats, type Scenario, type Strike } from './scenario.ts'

const HOUR_S = 3600
/**
 * Each fault starts in the first part of its share of time, has a limited duration, and leaves the rest to a healthy
 * node.
 */
const BEGINS_SHARE = 0.3
const LASTS_SHARE = 0.5

/**
 * Assumed frequency of each scenario in percent, based on publications about large clusters. Most slow jobs do not have
 * a hardware fault.
 */
const WEIGHTS: Readonly<Record<string, number>> = {
  straggler: 16,
  'ecc-burst': 14,
  'gpu-lost': 11,
  'data-stall': 9,
  'stuck-collective': 7,
  'link-flap': 6,
  'retransmission-storm': 6,
  'pcie-downtrain': 6,
  incast: 4,
  'hash-collision': 4,
  'noisy-neighbour': 4,
  'pcie-aer': 3,
  'link-ber': 3,
  'thermal-throttle': 3,
  'pfc-storm': 2,
  'link-downtrain': 1,
  'power-brake': 1,
}

/** A sequence of faults; the seed chooses each fault and its device. */
export function randomOf(scenarios: readonly Scenario[]): Scenario {
  return {
    name: 'random',
    summary: 'One fault after the other with healthy time between them; the seed decides fault, device and time',
    target: 'node',
    usualIndex: 0,
    severity: { unit: 'faults an hour', min: 1, max: 24, default: 12 },
    durationS: HOUR_S,
    effects: (strike) => {
      const { onsetS, endS, severity } = strike
      const starts = repeats(onsetS, endS, HOUR_S / severity)
      const all = starts.map((fromS, at) => {
        const toS = Math.min(endS, starts[at + 1] ?? fromS + HOUR_S / severity)
        return faultOf(scenarios, { ...strike, sinceS: Math.max(strike.sinceS, fromS), onsetS: fromS, endS: toS }, at)
      })
      return { spans: all.flatMap(({ spans }) => spans), events: all.flatMap(({ events = [] }) => events) }
    },
  }
}

/** The fault of one share of time, with its usual severity and duration. */
function faultOf(scenarios: readonly Scenario[], share: Strike, at: number) {
  const { node, seed } = share
  const drawn = (what: number) => uniform(seed, STREAM.faults, what, at)
  const scenario = weighted(
    scenarios.filter((one) => one.target === 'node' || targetsOf(node, one).length > 0),
    drawn(0),
  )
  const targets = targetsOf(node, scenario)
  const lengthS = share.endS - share.onsetS
  const onsetS = share.onsetS + BEGINS_SHARE * drawn(2) * lengthS
  const endS = onsetS + Math.min(scenario.durationS, LASTS_SHARE * lengthS)
  const device = targets[Math.floor(drawn(1) * targets.length)] ?? share.device
  const strike: Strike = { ...share, device, onsetS, endS, severity: scenario.severity.default }
  return cutEffects(scenario.effects(strike), endS)
}

function weighted(scenarios: readonly Scenario[], drawn: number): Scenario {
  const weightOf = ({ name }: Scenario) => WEIGHTS[name] ?? 0
  let left = drawn * scenarios.reduce((sum, one) => sum + weightOf(one), 0)
  const found = scenarios.find((one) => {
    left -= weightOf(one)
    return left < 0
  })
  return found ?? (scenarios[0] as Scenario)
}
