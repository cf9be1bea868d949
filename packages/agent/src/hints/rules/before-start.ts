import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { GPU, XID } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

const TOLD = [XID.lost, XID.device, XID.memory]

/** Numbers and count of the XIDs in the first sample of the GPU. */
function toldBefore(inspection: Inspection): { readonly numbers: string[]; readonly count: number } {
  // A value of 0 means that the driver was reloaded or its errors were cleared.
  if (inspection.last(GPU.lastXid) === 0) return { numbers: [], count: 0 }
  const found = TOLD.flatMap((signal) =>
    inspection.windows(signal).map((window, i) => ({
      xid: inspection.labels(signal)[i]?.xid ?? '',
      count: window.isFresh(inspection.scope.nowMs) ? window.before : 0,
    })),
  )
  const told = found.filter(({ count }) => count > 0)
  return { numbers: told.map(({ xid }) => xid), count: told.reduce((sum, { count }) => sum + count, 0) }
}

/** Errors in the first sample. The time of these errors is unknown. */
export const beforeStartRule: HintRule = {
  name: 'error_before_start',
  sees: 'The first sample of a GPU had an error that needs a reset: an XID of the GPU, NVLink or memory, or an uncorrected memory error.',
  severity: 'warning',
  worse: 'critical',
  of: 'gpu',
  neededMs: 0,
  isEvent: true,
  uses: [XID.lost, XID.device, XID.memory, GPU.uncorrectedErrors, GPU.lastXid, GPU.power],
  shows: [XID.lost, XID.device, XID.memory, GPU.uncorrectedErrors],
  limits: [
    {
      what: 'XID 48, 64, 74, 79, 94, 95, 119, 120 or 140 in the first sample',
      value: 1,
      unit: 'or more; critical with XID 79 and a silent GPU',
      source: 'the driver reports them until it is reloaded',
    },
    {
      what: 'uncorrected memory errors in the first sample',
      value: 1,
      unit: 'or more',
      source: 'counted since the driver was loaded',
    },
  ],
  not: {},
  toldApart: [
    'XIDs of applications, and errors from before the driver was loaded',
    'errors that happen while Sonde runs: other rules report them',
    'earlier PCIe errors and errors of host memory: their counters start with the machine and include errors of its start',
  ],
  find(inspection) {
    const { name } = inspection.device
    const { numbers, count } = toldBefore(inspection)
    const told = countMeasure(count, '>=', 1, 'XIDs before the start')
    if (isPassed(told)) {
      const isSilent = !inspection.has(GPU.power)
      const xids = `XID ${numbers.join(', ')}`
      return {
        severity: isSilent && numbers.includes('79') ? 'critical' : 'warning',
        title: `${hintDeviceTitle(inspection.device)} has ${xids} from before the start`,
        measure: told,
        sentence: (value, limit) =>
          `${name} has ${xids}, reported before Sonde started to read it: ${value}, ${limit}; the time is unknown, and the GPU ${isSilent ? 'gives no sample of its power' : 'gives samples'}`,
      }
    }
    const errors = firstKnown(inspection.before(GPU.uncorrectedErrors), 0)
    const counted = countMeasure(errors, '>=', 1, 'errors before the start')
    if (!isPassed(counted)) return undefined
    return {
      title: `${hintDeviceTitle(inspection.device)} had memory errors before the start`,
      measure: counted,
      sentence: (value, limit) =>
        `${name} counted uncorrected memory errors before Sonde started to read it: ${value}, ${limit}; the time is unknown`,
    }
  },
}
