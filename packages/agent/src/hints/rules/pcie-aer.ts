import { EVENT_OVER_MS, type Inspection } from '../inspection/inspection.ts'
import { maxKnown, sumKnown } from '../inspection/numbers.ts'
import { GPU, PCI } from '../watch/signals.ts'
import { countMeasure, isPassed } from './measure.ts'
import type { HintRule } from './rule.ts'
import { amountWords, besides, hintDeviceTitle } from './words.ts'

/** A bit error rate of 10⁻¹² allows this many replays on 16 lanes of Gen5. Unit: replays per minute. */
const ALLOWED_PER_MINUTE = 31
const FACTOR = 10
const LIMIT_PER_MINUTE = ALLOWED_PER_MINUTE * FACTOR
/** Errors within this time after a reset belong to the reset. Unit: milliseconds. */
const RESET_MS = EVENT_OVER_MS + 10_000

function correctable(inspection: Inspection): number {
  return maxKnown(inspection.increase(PCI.correctable, EVENT_OVER_MS), inspection.increase(GPU.replays, EVENT_OVER_MS))
}

function uncorrectable(inspection: Inspection): number {
  return sumKnown(inspection.increase(PCI.nonFatal, EVENT_OVER_MS), inspection.increase(PCI.fatal, EVENT_OVER_MS))
}

function ruleFor(of: 'gpu' | 'nic'): HintRule {
  const replays = of === 'gpu' ? [GPU.replays] : []
  return {
    name: 'pcie_aer',
    sees: `The PCIe link of a ${of === 'gpu' ? 'GPU' : 'NIC'} has far more errors than its bit error rate allows, or an error that it could not correct.`,
    severity: 'warning',
    worse: 'critical',
    of,
    neededMs: 300_000,
    isEvent: true,
    uses: [PCI.correctable, PCI.nonFatal, PCI.fatal, ...replays],
    shows: [PCI.correctable, PCI.nonFatal, ...replays],
    limits: [
      {
        what: 'corrected errors',
        value: LIMIT_PER_MINUTE,
        unit: 'in 1 min',
        source: `10 × the ${ALLOWED_PER_MINUTE} replays/min that DCGM allows Gen5 ×16`,
      },
      {
        what: 'non-fatal and fatal errors',
        value: 1,
        unit: 'critical',
        source: 'Oracle oci-hpc; a healthy link has none',
      },
    ],
    not: {
      'a reset of the device: its counters started again': (inspection) =>
        Math.min(inspection.sinceBreak(PCI.correctable), inspection.sinceBreak(GPU.replays)) < RESET_MS,
    },
    toldApart: ['single errors at boot', 'advisory non-fatal errors from probing functions that do not exist'],
    explainedBy: { gpu_lost: 'device', pcie_downtrain: 'device' },
    looksBackMs: EVENT_OVER_MS,
    find(inspection) {
      const { name } = inspection.device
      const corrected = countMeasure(correctable(inspection), '>', LIMIT_PER_MINUTE, 'errors in 1 min')
      const fatal = countMeasure(uncorrectable(inspection), '>=', 1, 'errors in 1 min')
      if (!isPassed(corrected) && !isPassed(fatal)) return undefined
      const title = `${hintDeviceTitle(inspection.device)} has PCIe errors`
      const others = besides(inspection.usual(correctable), amountWords)
      if (!isPassed(fatal))
        return {
          title,
          measure: corrected,
          sentence: (value, limit) =>
            `${name} counts ${value} corrected PCIe errors in the last minute${others}, ${limit}`,
        }
      const also = corrected.value > 0 ? `; it corrected ${amountWords(corrected.value)}${others}` : ''
      return {
        severity: 'critical',
        title,
        measure: fatal,
        sentence: (value, limit) =>
          `${name} counts ${value} PCIe errors in the last minute without correction, ${limit}${also}`,
        neededMs: 0,
      }
    },
  }
}

/** The link of a NIC. */
export const nicAerRule = ruleFor('nic')
/** The link of a GPU. */
export const gpuAerRule = ruleFor('gpu')
