import { EVENT_OVER_MS } from '../inspection/inspection.ts'
import { maxKnown } from '../inspection/numbers.ts'
import { hasTraffic, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isDown, isUp, sinceDown } from './link-state.ts'
import { countMeasure, isPassed, secondsMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { duration, hintDeviceTitle } from './words.ts'

const FLAPS = 3
const DROPPED_MS = 240_000
const TOGETHER_MS = 2500
const TOGETHER_COUNT = 3

/** The old 8-bit counter stops at its maximum, and carrier changes come in pairs. The largest count is right. */
function downsOf(read: (signal: (typeof NIC)[keyof typeof NIC]) => number): number {
  return maxKnown(read(NIC.linkDownEvents), read(NIC.linkDowned), Math.ceil(read(NIC.carrierChanges) / 2))
}

/** The link of a port went down. */
export const linkFlapRule: HintRule = {
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
    'all ports of a switch at once: the switch restarted': (inspection) => {
      const mine = sinceDown(inspection)
      const together = inspection.scope.rails.filter((other) => Math.abs(sinceDown(other) - mine) <= TOGETHER_MS)
      return Number.isFinite(mine) && together.length >= TOGETHER_COUNT
    },
    'a port that an operator switched off: its interface is down and has no carrier to tell': (inspection) =>
      inspection.last(NIC.up) === 0 && inspection.lastSeenMs(NIC.carrier) < inspection.lastSeenMs(NIC.up),
    'an idle port: it had no traffic before': (inspection) =>
      !hasTraffic(inspection) && !inspection.scope.isOpen('link_flap', inspection.device),
  },
  toldApart: ['a reloaded driver: its counters start again'],
  find(inspection) {
    const isDownNow = isDown(inspection)
    const recent = downsOf((signal) => inspection.increase(signal, EVENT_OVER_MS))
    // A port that went down before it was watched gives no event.
    const forMs = isDownNow ? Math.max(0, sinceDown(inspection)) : Number.NaN
    if (!(recent >= 1) && !Number.isFinite(forMs)) return undefined
    const { name } = inspection.device
    const title = hintDeviceTitle(inspection.device)
    const affected = slowedGpus(inspection)
    const often = downsOf((signal) => inspection.events(signal))
    const dropped = secondsMeasure(forMs / 1000, '>', DROPPED_MS / 1000, 's without a link')
    if (isPassed(dropped))
      return {
        severity: 'critical',
        title: `${title} has lost its link`,
        measure: dropped,
        sentence: (value, limit) => `${name} is down for ${value}, ${limit}`,
        affected,
      }
    const now = isDownNow ? `, and is down for ${duration(forMs)}` : isUp(inspection) ? ', and is up again' : ''
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
