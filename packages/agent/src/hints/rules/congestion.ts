import { titleOf } from '../device.ts'
import { LATEST_MS, type Look, SHORT_MS } from '../look.ts'
import { firstKnown, median } from '../numbers.ts'
import type { Finding, Limit, Rule } from '../rule.ts'
import type { Scope } from '../scope.ts'
import { NIC } from '../signals.ts'
import { percent } from '../words.ts'
import { lineOf, slowedGpus } from '../workload.ts'

const MARKED_SHARE = 0.05
const LINE_SHARE = 0.9
const NEEDED_MS = 10_000
const PAUSED_SHARE_MAX = 0.2
/** Of a burst, the fastest second counts: means over steps never reach the line. */
const BURST_OVER_MS = 5000
/** Packets a second below which a share says nothing. */
const PACKETS_LEAST = 100_000

const USES = [NIC.marked, NIC.receivedPackets, NIC.receivedBytes, NIC.lineRate, NIC.notificationsIgnored, NIC.txPaused]
const MARKED_LIMIT: Limit = {
  what: 'packets received with a congestion mark',
  value: MARKED_SHARE * 100,
  unit: '%',
  source: 'healthy bursts mark below 1 %; there is no published limit',
}
const NOT: Rule['not'] = {
  'congestion control is switched off: notifications are ignored': (look) => look.rate(NIC.notificationsIgnored) > 0,
  'pauses, which come of something that does not drain': (look) => look.rate(NIC.txPaused) > PAUSED_SHARE_MAX,
}
const TOLD_APART = ['marks in every burst, below 1 % of packets']

/** Of the last second; where that lies between two bursts, of the last ones. */
function markedShare(look: Look): number {
  return firstKnown(shareOver(look, LATEST_MS), shareOver(look, SHORT_MS))
}

function shareOver(look: Look, overMs: number): number {
  const packets = look.rate(NIC.receivedPackets, overMs)
  return packets > PACKETS_LEAST ? look.rate(NIC.marked, overMs) / packets : Number.NaN
}

/** The port receives at its line rate at times. */
function isFull(look: Look): boolean {
  return look.peak(NIC.receivedBytes, BURST_OVER_MS) > LINE_SHARE * lineOf(look)
}

function findingOf(look: Look, scope: Scope, title: string, more: string): Finding {
  const share = markedShare(look)
  const usual = firstKnown(median(scope.siblings(look).map(markedShare)), 0)
  return {
    title,
    sentence: `${percent(share)} of what ${look.device.name} receives is marked, its siblings ${percent(usual)}, limit ${percent(MARKED_SHARE)}; ${more}`,
    value: share * 100,
    limit: MARKED_LIMIT.value,
    unit: '% of packets',
    affected: slowedGpus(scope),
  }
}

/** Many senders to one port. */
export const incast: Rule = {
  name: 'incast',
  sees: 'Much of what a port receives is marked for congestion while it receives at line rate: several senders share it.',
  severity: 'warning',
  of: 'nic',
  neededMs: NEEDED_MS,
  uses: USES,
  shows: [NIC.marked, NIC.receivedBytes],
  limits: [
    MARKED_LIMIT,
    { what: 'received', value: LINE_SHARE * 100, unit: '% of line', source: 'the port itself is full' },
  ],
  not: NOT,
  toldApart: TOLD_APART,
  explainedBy: { pfc_source: 'device' },
  find(look, scope) {
    if (!(markedShare(look) > MARKED_SHARE) || !isFull(look)) return undefined
    const peak = look.peak(NIC.receivedBytes, BURST_OVER_MS) / lineOf(look)
    return findingOf(
      look,
      scope,
      `${titleOf(look.device)} gets more than fits`,
      `it receives at ${percent(peak)} of line`,
    )
  },
}

/** Congestion somewhere on the way. */
export const fabricHotspot: Rule = {
  name: 'fabric_hotspot',
  sees: 'Much of what a port receives is marked for congestion though the port is not full: flows share a link on the way.',
  severity: 'warning',
  of: 'nic',
  neededMs: NEEDED_MS,
  uses: USES,
  shows: [NIC.marked, NIC.receivedBytes],
  limits: [
    MARKED_LIMIT,
    { what: 'received', value: LINE_SHARE * 100, unit: '% of line', source: 'at or above it: incast' },
  ],
  not: NOT,
  toldApart: TOLD_APART,
  explainedBy: { pfc_source: 'device', incast: 'device' },
  lacksAlways: ['queues of switches'],
  find(look, scope) {
    if (!(markedShare(look) > MARKED_SHARE) || isFull(look)) return undefined
    return findingOf(look, scope, `A link towards ${titleOf(look.device)} is congested`, 'the port itself is not full')
  },
}
