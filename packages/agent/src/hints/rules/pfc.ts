import { LATEST_MS } from '../inspection/inspection.ts'
import { BETWEEN_BURSTS_MS, hasTraffic, lineBytes, slowedGpus } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { besides, hintDeviceTitle, percent } from './words.ts'

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
export const pfcSourceRule: HintRule = {
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
    'incast: pauses while it receives at line rate': (inspection) =>
      inspection.rate(NIC.receivedBytes) >= LINE_SHARE * lineBytes(inspection),
  },
  toldApart: ['a paused port: it receives pauses instead of sending them'],
  explainedBy: { pcie_downtrain: 'device' },
  find(inspection) {
    const measure = shareMeasure(inspection.rate(NIC.txPaused, LATEST_MS), '>', PAUSED_SHARE, '% of time')
    if (!isPassed(measure)) return undefined
    const others = besides(
      inspection.usual((other) => other.rate(NIC.txPaused, LATEST_MS)),
      percent,
    )
    const victims = inspection.scope.nics.filter(
      (other) => other !== inspection && other.rate(NIC.rxPaused) > PAUSED_SHARE,
    )
    const stalled = inspection.mean(NIC.writesStalled)
    const behind = stalled > 0.3 ? `; PCIe writes wait ${percent(stalled)} of the time` : ''
    return {
      title: `${hintDeviceTitle(inspection.device)} makes its peers pause`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} sends pauses for ${value} of the time${others}, ${limit}${behind}`,
      affected: [...victims.map(({ device }) => device), ...slowedGpus(inspection)],
    }
  },
}

/** A port that is paused. The cause is at the other end. */
export const pfcVictimRule: HintRule = {
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
  not: { 'an idle link': (inspection) => !hasTraffic(inspection) },
  toldApart: [
    'incast: its pauses are short',
    'a healthy fabric without congestion control: it pauses, but sends as much as before',
  ],
  explainedBy: { pfc_source: 'node', pcie_downtrain: 'node' },
  lacksAlways: ['the port at the other end'],
  find(inspection) {
    const measure = shareMeasure(inspection.rate(NIC.rxPaused, LATEST_MS), '>', PAUSED_SHARE, '% of time')
    if (!isPassed(measure)) return undefined
    const others = besides(
      inspection.usual((other) => other.rate(NIC.rxPaused, LATEST_MS)),
      percent,
    )
    const sent = inspection.rate(NIC.sentBytes, SENT_OVER_MS) / inspection.base(NIC.sentBytes)
    return {
      title: `${hintDeviceTitle(inspection.device)} is paused by its peer`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} is paused for ${value} of the time by its other end${others}, ${limit}`,
      affected: slowedGpus(inspection),
      isSure: !(sent >= SENT_SHARE),
    }
  },
}
