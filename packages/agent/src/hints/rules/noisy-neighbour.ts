import type { Look } from '../look/look.ts'
import { firstKnown } from '../look/numbers.ts'
import { BETWEEN_BURSTS_MS, lineOf, slowedGpus } from '../look/workload.ts'
import type { Signal } from '../watch/signal.ts'
import { NIC, PCI } from '../watch/signals.ts'
import { bytesMeasure, isPassed } from './measure.ts'
import type { Rule } from './rule.ts'
import { amount, besides, percent, titleOf } from './words.ts'

const FOREIGN_SHARE = 0.2
/** Limit without attribution: bytes on other priorities, which training hardly uses. Unit: bytes per second. */
const OTHER_PRIORITY_BYTES = 4e9
const OWN_SHARE = 0.9
const OWN_OVER_MS = 30_000
const LINK_SHARE = 0.8

/** Port and queue pairs are read at different moments. Two seconds even this out. */
const OVER_MS = 2000

/** Bytes that no queue pair of this host accounts for. Unit: bytes per second; NaN if they are not counted. */
function unattributed(look: Look): number {
  const own = firstKnown(look.rate(NIC.ownSentBytes, OVER_MS), look.rate(NIC.portRdmaSentBytes, OVER_MS))
  return firstKnown(look.rate(NIC.portSentBytes, OVER_MS), look.rate(NIC.sentBytes, OVER_MS)) - own
}

/** Bytes on all priorities except the busiest. */
function otherPriorities(look: Look): number {
  const rates = look.rates(NIC.priorityBytes, OVER_MS).filter((rate) => !Number.isNaN(rate))
  return rates.length < 2 ? Number.NaN : rates.reduce((sum, rate) => sum + rate, 0) - Math.max(...rates)
}

/** The job's own traffic, relative to its mean of 10 minutes. */
function ownShare(look: Look, signal: Signal): number {
  return look.rate(signal, OWN_OVER_MS) / look.base(signal)
}

function foreign(look: Look): number {
  return firstKnown(unattributed(look), otherPriorities(look))
}

/** Foreign traffic on the same port. */
export const noisyNeighbour: Rule = {
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
    'a port that others pause': (look) => look.rate(NIC.rxPaused) > FOREIGN_SHARE,
    'a PCIe link below its maximum speed': (look) =>
      look.last(PCI.bandwidth) < LINK_SHARE * look.last(PCI.bandwidthMax),
    'a NIC for storage, which serves all jobs': ({ device, scope }) => device.rail === null && scope.rails.length > 0,
    'the same traffic on all rails: the job itself uses several priorities': (look) =>
      look.usual(foreign) > foreign(look) / 2,
  },
  explainedBy: { pcie_downtrain: 'device', pfc_source: 'device' },
  lacksAlways: ['attribution to pods'],
  find(look) {
    const bytes = foreign(look)
    const isAttributed = !Number.isNaN(unattributed(look))
    const measure = bytesMeasure(bytes, '>', isAttributed ? FOREIGN_SHARE * lineOf(look) : OTHER_PRIORITY_BYTES)
    if (!isPassed(measure)) return undefined
    const others = besides(look.usual(foreign), (usual) => `${amount(Math.max(0, usual), 'B')}/s`)
    const whose = isAttributed ? 'without a queue pair of this host' : 'on other priorities'
    const own = firstKnown(ownShare(look, NIC.ownSentBytes), ownShare(look, NIC.portRdmaSentBytes))
    return {
      title: `${titleOf(look.device)} carries traffic of others`,
      measure,
      sentence: (value, limit) =>
        `${look.device.name} sends ${value} ${whose}${others}, ${limit}; this is ${percent(bytes / lineOf(look))} of its line`,
      affected: slowedGpus(look),
      isSure: !(own >= OWN_SHARE),
    }
  },
}
