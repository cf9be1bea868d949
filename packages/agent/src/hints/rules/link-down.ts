import type { Inspection } from '../inspection/inspection.ts'
import { IDLE_BYTES, portTraffic } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isDown, isUp, sinceDown } from './link-state.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

const UP_SHARE = 0.5
const TRAFFIC_OVER_MS = 10_000

function isUsed(inspection: Inspection): boolean {
  return isUp(inspection) && portTraffic(inspection, TRAFFIC_OVER_MS) > IDLE_BYTES
}

/** The link of a training port that was down when Sonde started. */
export const linkDownRule: HintRule = {
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
    'a port that an operator switched off: its interface is down and has no carrier to tell': (inspection) =>
      inspection.last(NIC.up) === 0 && inspection.lastSeenMs(NIC.carrier) < inspection.lastSeenMs(NIC.up),
  },
  toldApart: ['a link that went down while Sonde ran: `link_flap` reports it', 'ports that serve no GPU'],
  explainedBy: { link_flap: 'device' },
  find(inspection) {
    if (inspection.device.rail === null || !isDown(inspection) || Number.isFinite(sinceDown(inspection)))
      return undefined
    const siblings = inspection.scope.siblings(inspection)
    const measure = shareMeasure(siblings.filter(isUsed).length / siblings.length, '>', UP_SHARE, '% of ports')
    if (!isPassed(measure)) return undefined
    return {
      title: `${hintDeviceTitle(inspection.device)} has no link`,
      measure,
      sentence: (value, limit) =>
        `The link of ${inspection.device.name} is down since before Sonde started, while ${value} of the ports of other GPUs carry traffic, ${limit}`,
    }
  },
}
