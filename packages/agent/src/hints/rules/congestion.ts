import { LATEST_MS, type Look, SHORT_MS } from '../look/look.ts'
import { firstKnown } from '../look/numbers.ts'
import { BETWEEN_BURSTS_MS, lineOf, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { Limit, Rule } from './rule.ts'
import { besides, percent, titleOf } from './words.ts'

const MARKED_SHARE = 0.05
const LINE_SHARE = 0.9
const PAUSED_SHARE_MAX = 0.2
/** The fastest second of a burst counts, because means over steps never reach the line rate. */
const BURST_OVER_MS = 30_000
/** Least packets per second for a meaningful share. */
const PACKETS_LEAST = 100_000

const MARKED_LIMIT: Limit = {
  what: 'packets received with a congestion mark',
  value: MARKED_SHARE * 100,
  unit: '%',
  source: 'healthy bursts mark below 1 %; there is no published limit',
}
/** Share over the last second, or over the last seconds if the last second is between two bursts. */
function markedShare(look: Look): number {
  return firstKnown(shareOver(look, LATEST_MS), shareOver(look, SHORT_MS))
}

function shareOver(look: Look, overMs: number): number {
  const packets = look.rate(NIC.receivedPackets, overMs)
  return packets > PACKETS_LEAST ? look.rate(NIC.marked, overMs) / packets : Number.NaN
}

/** Many senders to one port, or flows that share a link on the way. */
export const congestion: Rule = {
  name: 'congestion',
  sees: 'Many packets to a port are marked for congestion: several hosts send to the port at once (incast), or a link on the way is full (hotspot).',
  severity: 'warning',
  of: 'nic',
  neededMs: 10_000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [NIC.marked, NIC.receivedPackets, NIC.receivedBytes, NIC.lineRate, NIC.notificationsIgnored, NIC.txPaused],
  shows: [NIC.marked, NIC.receivedBytes],
  limits: [
    MARKED_LIMIT,
    {
      what: 'received',
      value: LINE_SHARE * 100,
      unit: '% of line: incast; below: hotspot',
      source: 'the port itself is full',
    },
  ],
  not: {
    'congestion control is switched off: notifications are ignored': (look) => look.rate(NIC.notificationsIgnored) > 0,
    'pauses, which mean that a receiver does not drain': (look) => look.rate(NIC.txPaused) > PAUSED_SHARE_MAX,
  },
  toldApart: ['marks in every burst, below 1 % of packets'],
  explainedBy: { pfc_source: 'device' },
  lacksAlways: ['queues of switches'],
  find(look) {
    const measure = shareMeasure(markedShare(look), '>', MARKED_SHARE, '% of packets')
    if (!isPassed(measure)) return undefined
    const usual = look.usual(markedShare)
    const peak = look.peak(NIC.receivedBytes, BURST_OVER_MS) / lineOf(look)
    const { name } = look.device
    return {
      title:
        peak > LINE_SHARE
          ? `${titleOf(look.device)} gets more than fits`
          : `Traffic to ${titleOf(look.device)} is congested`,
      measure,
      sentence: (value, limit) =>
        `${value} of the packets to ${name} are marked${besides(usual, percent)}, ${limit}; it received at up to ${percent(peak)} of line`,
      affected: slowedGpus(look),
    }
  },
}
