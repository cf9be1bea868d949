import type { Look } from '../look/look.ts'
import { IDLE_BYTES, trafficOf } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isDown, isUp, sinceDown } from './link-state.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { titleOf } from './words.ts'

const UP_SHARE = 0.5
const TRAFFIC_OVER_MS = 10_000

function isUsed(look: Look): boolean {
  return isUp(look) && trafficOf(look, TRAFFIC_OVER_MS) > IDLE_BYTES
}

/** The link of a training port that was down when Sonde started. */
export const linkDown: Rule = {
  name: 'link_down',
  sees: 'The link of a port of a GPU has been down since before Sonde started, while the ports of other GPUs carry traffic.',
  severity: 'warning',
  of: 'nic',
  neededMs: 10_000,
  uses: [NIC.state, NIC.carrier, NIC.linkDetected, NIC.sentBytes, NIC.receivedBytes],
  shows: [NIC.state, NIC.carrier],
  limits: [
    {
      what: 'ports of other GPUs that carry traffic',
      value: UP_SHARE * 100,
      unit: '%',
      source: 'a job that uses most of them needs all',
    },
  ],
  not: {
    'a port that an operator switched off: its interface is down and has no carrier to tell': (look) =>
      look.last(NIC.up) === 0 && look.lastSeenMs(NIC.carrier) < look.lastSeenMs(NIC.up),
  },
  toldApart: ['a link that went down while Sonde ran: `link_flap` reports it', 'ports that serve no GPU'],
  explainedBy: { link_flap: 'device' },
  find(look) {
    if (look.device.rail === null || !isDown(look) || Number.isFinite(sinceDown(look))) return undefined
    const siblings = look.scope.siblings(look)
    const measure = shareMeasure(siblings.filter(isUsed).length / siblings.length, '>', UP_SHARE, '% of ports')
    if (!isPassed(measure)) return undefined
    return {
      title: `${titleOf(look.device)} has no link`,
      measure,
      sentence: (value, limit) =>
        `The link of ${look.device.name} is down since before Sonde started, while ${value} of the ports of other GPUs carry traffic, ${limit}`,
    }
  },
}
