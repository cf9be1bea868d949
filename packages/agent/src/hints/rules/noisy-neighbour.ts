import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { BETWEEN_BURSTS_MS, lineBytes, slowedGpus } from '../inspection/workload.ts'
import type { HintSignal } from '../watch/signal.ts'
import { NIC, PCI } from '../watch/signals.ts'
import { bytesMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle, percent } from './words.ts'

const FOREIGN_SHARE = 0.2
/** Limit without attribution: bytes on other priorities, which training hardly uses. Unit: bytes per second. */
const OTHER_PRIORITY_BYTES = 4e9
const OWN_SHARE = 0.9
const OWN_OVER_MS = 30_000
const LINK_SHARE = 0.8

/** Port and queue pairs are read at different moments. Two seconds even this out. */
const OVER_MS = 2000

/** Bytes that no queue pair of this host accounts for. Unit: bytes per second; NaN if they are not counted. */
function unattributed(inspection: Inspection): number {
  const own = firstKnown(inspection.rate(NIC.ownSentBytes, OVER_MS), inspection.rate(NIC.portRdmaSentBytes, OVER_MS))
  return firstKnown(inspection.rate(NIC.portSentBytes, OVER_MS), inspection.rate(NIC.sentBytes, OVER_MS)) - own
}

/** Bytes on all priorities except the busiest. */
function otherPriorities(inspection: Inspection): number {
  const rates = inspection.rates(NIC.priorityBytes, OVER_MS).filter((rate) => !Number.isNaN(rate))
  return rates.length < 2 ? Number.NaN : rates.reduce((sum, rate) => sum + rate, 0) - Math.max(...rates)
}

/** The job's own traffic, relative to its mean of 10 minutes. */
function ownShare(inspection: Inspection, signal: HintSignal): number {
  return inspection.rate(signal, OWN_OVER_MS) / inspection.base(signal)
}

function foreign(inspection: Inspection): number {
  return firstKnown(unattributed(inspection), otherPriorities(inspection))
}

/** Foreign traffic on the same port. */
export const noisyNeighbourRule: HintRule = {
  name: 'noisy_neighbour',
  sees: 'A training port carries much traffic of others: another tenant, storage, or a checkpoint on a rail.',
  severity: 'warning',
  of: 'nic',
  neededMs: 10_000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [NIC.portSentBytes, NIC.ownSentBytes, NIC.portRdmaSentBytes, NIC.priorityBytes, NIC.sentBytes],
  shows: [NIC.priorityBytes, NIC.portSentBytes, NIC.ownSentBytes],
  limits: [
    { what: 'bytes of others', value: FOREIGN_SHARE * 100, unit: '% of line', source: 'attribution by queue pairs' },
    {
      what: 'bytes on other priorities',
      value: OTHER_PRIORITY_BYTES / 1e9,
      unit: 'GB/s, without attribution',
      source: 'training uses one priority',
    },
    {
      what: 'own bytes in 30 s',
      value: OWN_SHARE * 100,
      unit: '% of its mean of 10 min, to confirm',
      source: 'the job is affected',
    },
  ],
  not: {
    'a port that others pause': (inspection) => inspection.rate(NIC.rxPaused) > FOREIGN_SHARE,
    'a PCIe link below its maximum speed': (inspection) =>
      inspection.last(PCI.bandwidth) < LINK_SHARE * inspection.last(PCI.bandwidthMax),
    'a NIC for storage, which serves all jobs': ({ device, scope }) => device.rail === null && scope.rails.length > 0,
    'the same traffic on all rails: the job itself uses several priorities': (inspection) =>
      inspection.usual(foreign) > foreign(inspection) / 2,
  },
  explainedBy: { pcie_downtrain: 'device', pfc_source: 'device' },
  lacksAlways: ['attribution to pods'],
  find(inspection) {
    const bytes = foreign(inspection)
    const isAttributed = !Number.isNaN(unattributed(inspection))
    const measure = bytesMeasure(
      bytes,
      '>',
      isAttributed ? FOREIGN_SHARE * lineBytes(inspection) : OTHER_PRIORITY_BYTES,
    )
    if (!isPassed(measure)) return undefined
    const others = besides(inspection.usual(foreign), (usual) => `${amountWords(Math.max(0, usual), 'B')}/s`)
    const whose = isAttributed ? 'without a queue pair of this host' : 'on other priorities'
    const own = firstKnown(ownShare(inspection, NIC.ownSentBytes), ownShare(inspection, NIC.portRdmaSentBytes))
    return {
      title: `${hintDeviceTitle(inspection.device)} carries traffic of others`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} sends ${value} ${whose}${others}, ${limit}; this is ${percent(bytes / lineBytes(inspection))} of its line`,
      affected: slowedGpus(inspection),
      isSure: !(own >= OWN_SHARE),
    }
  },
}
