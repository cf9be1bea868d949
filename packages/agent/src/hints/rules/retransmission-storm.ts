import { LATEST_MS, type Look, SHORT_MS } from '../look/look.ts'
import { maxKnown, sumKnown } from '../look/numbers.ts'
import { BETWEEN_BURSTS_MS, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { Rule } from './rule.ts'
import { amount, besides, titleOf } from './words.ts'

const LIMIT_PER_S = 100
const SIBLING_FACTOR = 10
const PAUSED_SHARE_MAX = 0.05
const FRAME_SHARE = 0.1

/**
 * Retransmitted packets per second: over the last second, or over the last three if the last second is between two
 * bursts.
 */
function errorsOf(look: Look): number {
  return maxKnown(errorsOver(look, LATEST_MS), errorsOver(look, SHORT_MS))
}

function errorsOver(look: Look, overMs: number): number {
  return sumKnown(
    look.rate(NIC.sequenceErrors, overMs),
    look.rate(NIC.acknowledgementTimeouts, overMs),
    look.rate(NIC.adaptiveRetransmissions, overMs),
  )
}

function perPacket(look: Look): number {
  return errorsOver(look, SHORT_MS) / Math.max(1, look.rate(NIC.sentPackets))
}

/** One rail loses packets and retransmits them. */
export const retransmissionStorm: Rule = {
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
    'receiver not ready: its software is late': (look) => look.rate(NIC.receiverNotReady) > errorsOf(look),
    'a dirty cable: checksum errors come first': (look) =>
      maxKnown(look.rate(NIC.checksumErrors), look.rate(NIC.frameErrors)) > FRAME_SHARE * errorsOf(look),
    'congestion: packets discarded together with pauses': (look) =>
      look.rate(NIC.discards) > FRAME_SHARE * errorsOf(look) && look.rate(NIC.rxPaused) > 0.01,
    'a port that its peers pause': (look) => look.rate(NIC.rxPaused) >= PAUSED_SHARE_MAX,
  },
  toldApart: ['adaptive routing: packets arrive out of order, but are not retransmitted'],
  explainedBy: { link_flap: 'device', link_ber: 'device', pfc_source: 'device' },
  find(look) {
    const measure = countMeasure(errorsOf(look), '>=', LIMIT_PER_S, 'errors/s')
    if (!isPassed(measure)) return undefined
    if (!(perPacket(look) >= SIBLING_FACTOR * look.usual(perPacket, 0))) return undefined
    const kind = look.rate(NIC.sequenceErrors) >= errorsOver(look, SHORT_MS) / 2 ? 'sequence errors' : 'retransmissions'
    return {
      title: `${titleOf(look.device)} is losing packets`,
      measure,
      sentence: (value, limit) =>
        `${look.device.name} counts ${value} ${kind}/s${besides(look.usual(errorsOf), amount)}, ${limit}/s`,
      affected: slowedGpus(look),
    }
  },
}
