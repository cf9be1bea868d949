import { type Inspection, LATEST_MS, SHORT_MS } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { BETWEEN_BURSTS_MS, lineBytes, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintLimit, HintRule } from './rule.ts'
import { besides, hintDeviceTitle, percent } from './words.ts'

const MARKED_SHARE = 0.05
const LINE_SHARE = 0.9
const PAUSED_SHARE_MAX = 0.2
/** The fastest second of a burst counts, because means over steps never reach the line rate. */
const BURST_OVER_MS = 30_000
/** Least packets per second for a meaningful share. */
const PACKETS_LEAST = 100_000

const MARKED_LIMIT: HintLimit = {
  what: 'packets received with a congestion mark',
  value: MARKED_SHARE * 100,
  unit: '%',
  source: 'healthy bursts mark below 1 %; there is no published limit',
}
/** Share over the last second, or over the last seconds if the last second is between two bursts. */
function markedShare(inspection: Inspection): number {
  return firstKnown(shareOver(inspection, LATEST_MS), shareOver(inspection, SHORT_MS))
}

function shareOver(inspection: Inspection, overMs: number): number {
  const packets = inspection.rate(NIC.receivedPackets, overMs)
  return packets > PACKETS_LEAST ? inspection.rate(NIC.marked, overMs) / packets : Number.NaN
}

/** Many senders to one port, or flows that share a link on the way. */
export const congestionRule: HintRule = {
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
    'congestion control is switched off: notifications are ignored': (inspection) =>
      inspection.rate(NIC.notificationsIgnored) > 0,
    'pauses, which mean that a receiver does not drain': (inspection) =>
      inspection.rate(NIC.txPaused) > PAUSED_SHARE_MAX,
  },
  toldApart: ['marks in every burst, below 1 % of packets'],
  explainedBy: { pfc_source: 'device' },
  lacksAlways: ['queues of switches'],
  find(inspection) {
    const measure = shareMeasure(markedShare(inspection), '>', MARKED_SHARE, '% of packets')
    if (!isPassed(measure)) return undefined
    const usual = inspection.usual(markedShare)
    const peak = inspection.peak(NIC.receivedBytes, BURST_OVER_MS) / lineBytes(inspection)
    const { name } = inspection.device
    return {
      title:
        peak > LINE_SHARE
          ? `${hintDeviceTitle(inspection.device)} gets more than fits`
          : `Traffic to ${hintDeviceTitle(inspection.device)} is congested`,
      measure,
      sentence: (value, limit) =>
        `${value} of the packets to ${name} are marked${besides(usual, percent)}, ${limit}; it received at up to ${percent(peak)} of line`,
      affected: slowedGpus(inspection),
    }
  },
}
