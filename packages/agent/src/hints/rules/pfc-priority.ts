import { type Inspection, SHORT_MS } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { BETWEEN_BURSTS_MS, lineBytes } from '../inspection/workload.ts'
import { NIC } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, hintDeviceTitle } from './words.ts'

const GUARDED_SHARE = 0.5
const LINE_SHARE = 0.01

/** A priority, and how fast the port sends with it. */
interface PriorityRate {
  readonly priority: number
  /** Unit: bytes per second. */
  readonly bytes: number
}

/** A port whose RDMA cannot all be on the priorities with flow control, because they carry less. */
export const pfcPriorityRule: HintRule = {
  name: 'pfc_priority',
  sees: 'A port sends RDMA on a priority without flow control, although another priority has it: packets can be lost.',
  severity: 'warning',
  of: 'nic',
  neededMs: 10_000,
  lingerMs: BETWEEN_BURSTS_MS,
  uses: [NIC.pfcMask, NIC.priorityBytes, NIC.portRdmaSentBytes, NIC.sentBytes, NIC.lineRate],
  shows: [NIC.priorityBytes, NIC.portRdmaSentBytes],
  limits: [
    {
      what: 'traffic of priorities with flow control',
      value: GUARDED_SHARE * 100,
      unit: '% of RDMA',
      source: 'they carry all RDMA, and perhaps more, if it runs on them',
    },
    { what: 'RDMA sent', value: LINE_SHARE * 100, unit: '% of line', source: 'below it: management and storage' },
  ],
  not: {},
  toldApart: [
    'traffic without RDMA on other priorities: all RDMA still fits on those with flow control',
    'a port without flow control on any priority: adapters that tolerate loss want that',
  ],
  lacksAlways: ['the priorities for which the switch has flow control'],
  find(inspection) {
    const mask = inspection.last(NIC.pfcMask)
    const rates = ratesOf(inspection)
    const rdma = firstKnown(inspection.rate(NIC.portRdmaSentBytes), inspection.rate(NIC.sentBytes))
    if (!(mask > 0) || !(rdma > LINE_SHARE * lineBytes(inspection))) return undefined
    const hasPfc = ({ priority }: PriorityRate) => ((mask >> priority) & 1) === 1
    const guarded = rates.filter(hasPfc)
    const busiest = rates.filter((rate) => !hasPfc(rate)).toSorted((a, b) => b.bytes - a.bytes)[0]
    // A priority whose counter is missing may carry everything.
    const isKnown = guarded.length === prioritiesIn(mask).length
    const guardedBytes = guarded.reduce((sum, { bytes }) => sum + bytes, 0)
    const measure = shareMeasure(isKnown ? guardedBytes / rdma : Number.NaN, '<', GUARDED_SHARE, '% of RDMA')
    if (!isPassed(measure) || busiest === undefined || !(busiest.bytes > GUARDED_SHARE * rdma)) return undefined
    const withPfc = prioritiesIn(mask).join(', ')
    const { name } = inspection.device
    return {
      title: `${hintDeviceTitle(inspection.device)}: PFC is on for ${withPfc}, RDMA runs on ${busiest.priority}`,
      measure,
      sentence: (value, limit) =>
        `PFC of ${name} is on for priority ${withPfc}, but RDMA runs on priority ${busiest.priority}: of ` +
        `${speedWords(rdma)} of RDMA, priority ${withPfc} carries ${value} at most (${speedWords(guardedBytes)}), ` +
        `${limit}; priority ${busiest.priority} carries ${speedWords(busiest.bytes)}`,
    }
  },
}

/** How fast the port sends with each priority whose counter is read now. */
function ratesOf(inspection: Inspection): PriorityRate[] {
  const windows = inspection.windows(NIC.priorityBytes)
  return inspection.labels(NIC.priorityBytes).flatMap(({ priority }, at): PriorityRate[] => {
    const window = windows[at]
    const bytes = window?.isFresh(inspection.scope.nowMs) === true ? window.rate(SHORT_MS) : Number.NaN
    return Number.isNaN(bytes) ? [] : [{ priority: Number(priority), bytes }]
  })
}

function prioritiesIn(mask: number): number[] {
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((priority) => ((mask >> priority) & 1) === 1)
}

function speedWords(bytes: number): string {
  return `${amountWords(bytes, 'B')}/s`
}
