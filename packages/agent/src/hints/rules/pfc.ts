import { LATEST_MS } from '../look/look.ts'
import { BETWEEN_BURSTS_MS, hasTraffic, lineOf, slowedGpus } from '../look/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { Rule } from './rule.ts'
import { besides, percent, titleOf } from './words.ts'

const PAUSED_SHARE = 0.2
const LINE_SHARE = 0.5
const SENT_SHARE = 0.7
/** Bytes come in bursts, so sent bytes are compared over several steps. */
const SENT_OVER_MS = 10_000

const PAUSED_LIMIT = {
  what: 'time paused',
  value: PAUSED_SHARE * 100,
  unit: '%',
  source: 'switch watchdogs act at 100 to 200 ms; healthy bursts stay below 1 %',
}

/** A port that makes others pause, because something behind it does not drain. */
export const pfcSource: Rule = {
  name: 'pfc_source',
  sees: 'A port pauses its peers for much of the time, although it does not receive at line rate.',
  severity: 'critical',
  of: 'nic',
  neededMs: 5000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [NIC.txPaused, NIC.receivedBytes, NIC.lineRate, NIC.stormErrors, NIC.writesStalled],
  shows: [NIC.txPaused, NIC.receivedBytes],
  limits: [PAUSED_LIMIT, { what: 'received', value: LINE_SHARE * 100, unit: '% of line', source: 'above it: incast' }],
  not: {
    'incast: pauses while it receives at line rate': (look) =>
      look.rate(NIC.receivedBytes) >= LINE_SHARE * lineOf(look),
  },
  toldApart: ['a paused port: it receives pauses instead of sending them'],
  explainedBy: { pcie_downtrain: 'device' },
  find(look) {
    const measure = shareMeasure(look.rate(NIC.txPaused, LATEST_MS), '>', PAUSED_SHARE, '% of time')
    if (!isPassed(measure)) return undefined
    const others = besides(
      look.usual((other) => other.rate(NIC.txPaused, LATEST_MS)),
      percent,
    )
    const victims = look.scope.nics.filter((other) => other !== look && other.rate(NIC.rxPaused) > PAUSED_SHARE)
    const stalled = look.mean(NIC.writesStalled)
    const behind = stalled > 0.3 ? `; PCIe writes wait ${percent(stalled)} of the time` : ''
    return {
      title: `${titleOf(look.device)} makes its peers pause`,
      measure,
      sentence: (value, limit) =>
        `${look.device.name} sends pauses for ${value} of the time${others}, ${limit}${behind}`,
      affected: [...victims.map(({ device }) => device), ...slowedGpus(look)],
    }
  },
}

/** A port that is paused. The cause is at the other end. */
export const pfcVictim: Rule = {
  name: 'pfc_victim',
  sees: 'A port is paused for much of the time and sends less than before; the origin is at the other end.',
  severity: 'warning',
  of: 'nic',
  neededMs: 5000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [NIC.rxPaused, NIC.sentBytes],
  shows: [NIC.rxPaused, NIC.sentBytes],
  limits: [
    PAUSED_LIMIT,
    {
      what: 'sent',
      value: SENT_SHARE * 100,
      unit: '% of its mean of 10 min',
      source: 'to confirm; without a mean, the pauses alone confirm',
    },
  ],
  not: { 'an idle link': (look) => !hasTraffic(look) },
  toldApart: [
    'incast: its pauses are short',
    'a healthy fabric without congestion control: it pauses, but sends as much as before',
  ],
  explainedBy: { pfc_source: 'node', pcie_downtrain: 'node' },
  lacksAlways: ['the port at the other end'],
  find(look) {
    const measure = shareMeasure(look.rate(NIC.rxPaused, LATEST_MS), '>', PAUSED_SHARE, '% of time')
    if (!isPassed(measure)) return undefined
    const others = besides(
      look.usual((other) => other.rate(NIC.rxPaused, LATEST_MS)),
      percent,
    )
    const sent = look.rate(NIC.sentBytes, SENT_OVER_MS) / look.base(NIC.sentBytes)
    return {
      title: `${titleOf(look.device)} is paused by its peer`,
      measure,
      sentence: (value, limit) =>
        `${look.device.name} is paused for ${value} of the time by its other end${others}, ${limit}`,
      affected: slowedGpus(look),
      isSure: !(sent >= SENT_SHARE),
    }
  },
}
