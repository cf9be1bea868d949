import { type Inspection, LATEST_MS, SHORT_MS } from '../inspection/inspection.ts'
import { maxKnown, sumKnown } from '../inspection/numbers.ts'
import { BETWEEN_BURSTS_MS, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle } from './words.ts'

const LIMIT_PER_S = 100
const SIBLING_FACTOR = 10
const PAUSED_SHARE_MAX = 0.05
const FRAME_SHARE = 0.1

/**
 * Retransmitted packets per second: over the last second, or over the last three if the last second is between two
 * bursts.
 */
function errorsOf(inspection: Inspection): number {
  return maxKnown(errorsOver(inspection, LATEST_MS), errorsOver(inspection, SHORT_MS))
}

function errorsOver(inspection: Inspection, overMs: number): number {
  return sumKnown(
    inspection.rate(NIC.sequenceErrors, overMs),
    inspection.rate(NIC.acknowledgementTimeouts, overMs),
    inspection.rate(NIC.adaptiveRetransmissions, overMs),
  )
}

function perPacket(inspection: Inspection): number {
  return errorsOver(inspection, SHORT_MS) / Math.max(1, inspection.rate(NIC.sentPackets))
}

/** One rail loses packets and retransmits them. */
export const retransmissionStormRule: HintRule = {
  name: 'retransmission_storm',
  sees: 'One port retransmits packets at a much higher rate than its siblings.',
  severity: 'critical',
  of: 'nic',
  neededMs: 3000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [
    NIC.sequenceErrors,
    NIC.acknowledgementTimeouts,
    NIC.adaptiveRetransmissions,
    NIC.sentPackets,
    NIC.rxPaused,
    NIC.receiverNotReady,
    NIC.checksumErrors,
    NIC.frameErrors,
    NIC.discards,
  ],
  shows: [NIC.sequenceErrors, NIC.acknowledgementTimeouts, NIC.adaptiveRetransmissions],
  limits: [
    { what: 'errors', value: LIMIT_PER_S, unit: '/s', source: 'a healthy port counts 0 to 10 a day' },
    { what: 'errors a packet', value: SIBLING_FACTOR, unit: '× median of siblings', source: 'rates per packet' },
    {
      what: 'time paused',
      value: PAUSED_SHARE_MAX * 100,
      unit: '%',
      source: 'beyond it the port is paused',
    },
  ],
  not: {
    'receiver not ready: its software is late': (inspection) =>
      inspection.rate(NIC.receiverNotReady) > errorsOf(inspection),
    'a dirty cable: checksum errors come first': (inspection) =>
      maxKnown(inspection.rate(NIC.checksumErrors), inspection.rate(NIC.frameErrors)) >
      FRAME_SHARE * errorsOf(inspection),
    'congestion: packets discarded together with pauses': (inspection) =>
      inspection.rate(NIC.discards) > FRAME_SHARE * errorsOf(inspection) && inspection.rate(NIC.rxPaused) > 0.01,
    'a port that its peers pause': (inspection) => inspection.rate(NIC.rxPaused) >= PAUSED_SHARE_MAX,
  },
  toldApart: ['adaptive routing: packets arrive out of order, but are not retransmitted'],
  explainedBy: { link_flap: 'device', link_ber: 'device', pfc_source: 'device', pfc_priority: 'device' },
  find(inspection) {
    const measure = countMeasure(errorsOf(inspection), '>=', LIMIT_PER_S, 'errors/s')
    if (!isPassed(measure)) return undefined
    if (!(perPacket(inspection) >= SIBLING_FACTOR * inspection.usual(perPacket, 0))) return undefined
    const kind =
      inspection.rate(NIC.sequenceErrors) >= errorsOver(inspection, SHORT_MS) / 2
        ? 'sequence errors'
        : 'retransmissions'
    return {
      title: `${hintDeviceTitle(inspection.device)} is losing packets`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} counts ${value} ${kind}/s${besides(inspection.usual(errorsOf), amountWords)}, ${limit}/s`,
      affected: slowedGpus(inspection),
    }
  },
}
