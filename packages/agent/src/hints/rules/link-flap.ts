import { EVENT_OVER_MS } from '../look/look.ts'
import { maxKnown } from '../look/numbers.ts'
import { hasTraffic, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isDown, isUp, sinceDown } from './link-state.ts'
import { countMeasure, isPassed, secondsMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { duration, titleOf } from './words.ts'

const FLAPS = 3
const DROPPED_MS = 240_000
const TOGETHER_MS = 2500
const TOGETHER_COUNT = 3

/** The old 8-bit counter stops at its maximum, and carrier changes come in pairs. The largest count is right. */
function downsOf(read: (signal: (typeof NIC)[keyof typeof NIC]) => number): number {
  return maxKnown(read(NIC.linkDownEvents), read(NIC.linkDowned), Math.ceil(read(NIC.carrierChanges) / 2))
}

/** The link of a port went down. */
export const linkFlap: Rule = {
  name: 'link_flap',
  sees: 'The link of a port with traffic went down: once, repeatedly, or for good.',
  severity: 'warning',
  worse: 'critical',
  of: 'port',
  neededMs: 0,
  isEvent: true,
  uses: [NIC.linkDownEvents, NIC.linkDowned, NIC.carrierChanges, NIC.carrier, NIC.state, NIC.linkDetected],
  shows: [NIC.linkDownEvents, NIC.carrierChanges, NIC.carrier],
  limits: [
    { what: 'link down', value: 1, unit: 'in 1 min: event', source: 'one is an event' },
    {
      what: 'link down',
      value: FLAPS,
      unit: 'in 10 min: flapping, critical',
      source: 'gpud: 3 in 12 h; community rules page on one',
    },
    { what: 'time down', value: DROPPED_MS / 60_000, unit: 'min: dropped, critical', source: 'gpud' },
  ],
  not: {
    'all ports of a switch at once: the switch restarted': (look) => {
      const mine = sinceDown(look)
      const together = look.scope.rails.filter((other) => Math.abs(sinceDown(other) - mine) <= TOGETHER_MS)
      return Number.isFinite(mine) && together.length >= TOGETHER_COUNT
    },
    'a port that an operator switched off: its interface is down and has no carrier to tell': (look) =>
      look.last(NIC.up) === 0 && look.lastSeenMs(NIC.carrier) < look.lastSeenMs(NIC.up),
    'an idle port: it had no traffic before': (look) =>
      !hasTraffic(look) && !look.scope.isOpen('link_flap', look.device),
  },
  toldApart: ['a reloaded driver: its counters start again'],
  find(look) {
    const isDownNow = isDown(look)
    const recent = downsOf((signal) => look.increase(signal, EVENT_OVER_MS))
    // A port that went down before it was watched gives no event.
    const forMs = isDownNow ? Math.max(0, sinceDown(look)) : Number.NaN
    if (!(recent >= 1) && !Number.isFinite(forMs)) return undefined
    const { name } = look.device
    const title = titleOf(look.device)
    const affected = slowedGpus(look)
    const often = downsOf((signal) => look.events(signal))
    const dropped = secondsMeasure(forMs / 1000, '>', DROPPED_MS / 1000, 's without a link')
    if (isPassed(dropped))
      return {
        severity: 'critical',
        title: `${title} has lost its link`,
        measure: dropped,
        sentence: (value, limit) => `${name} is down for ${value}, ${limit}`,
        affected,
      }
    const now = isDownNow ? `, and is down for ${duration(forMs)}` : isUp(look) ? ', and is up again' : ''
    const isFlapping = often >= FLAPS
    const count = maxKnown(often, recent, 1)
    return {
      severity: isFlapping ? 'critical' : 'warning',
      title: isFlapping ? `${title} is flapping` : `${title} lost its link`,
      measure: countMeasure(count, '>=', isFlapping ? FLAPS : 1, 'times in 10 min'),
      sentence: (value, limit) =>
        `${name} lost its link ${value} ${count === 1 ? 'time' : 'times'} in 10 min, ${limit}${now}`,
      affected,
    }
  },
}
