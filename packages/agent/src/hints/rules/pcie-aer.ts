import { EVENT_OVER_MS, type Look } from '../look/look.ts'
import { firstKnown, maxKnown, sumKnown } from '../look/numbers.ts'
import { GPU, PCI } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { amount, titleOf } from './words.ts'

/** A bit error rate of 10⁻¹² allows this many replays on 16 lanes of Gen5. Unit: replays per minute. */
const ALLOWED_PER_MINUTE = 31
const FACTOR = 10
const LIMIT_PER_MINUTE = ALLOWED_PER_MINUTE * FACTOR
/** How long after a reset errors belong to it. Unit: milliseconds. */
const RESET_MS = EVENT_OVER_MS + 10_000

function correctable(look: Look): number {
  return maxKnown(look.increase(PCI.correctable, EVENT_OVER_MS), look.increase(GPU.replays, EVENT_OVER_MS))
}

function uncorrectable(look: Look): number {
  return sumKnown(look.increase(PCI.nonFatal, EVENT_OVER_MS), look.increase(PCI.fatal, EVENT_OVER_MS))
}

function ruleFor(of: 'gpu' | 'nic'): Rule {
  const replays = of === 'gpu' ? [GPU.replays] : []
  return {
    name: 'pcie_aer',
    sees: `The PCIe link of a ${of === 'gpu' ? 'GPU' : 'NIC'} has far more errors than its bit error rate allows, or one that it could not correct.`,
    severity: 'warning',
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
      'a reset of the device: its counters began again': (look) =>
        Math.min(look.sinceBreak(PCI.correctable), look.sinceBreak(GPU.replays)) < RESET_MS,
    },
    toldApart: ['single errors at boot', 'advisory non-fatal errors of looking for functions that are not there'],
    explainedBy: { gpu_lost: 'device', pcie_downtrain: 'device' },
    looksBackMs: EVENT_OVER_MS,
    find(look) {
      const corrected = firstKnown(correctable(look), 0)
      const fatal = firstKnown(uncorrectable(look), 0)
      if (!(corrected > LIMIT_PER_MINUTE) && !(fatal >= 1)) return undefined
      const title = `${titleOf(look.device)} has PCIe errors`
      const also = `${amount(corrected)} corrected PCIe errors in the last minute, its siblings ${amount(look.usual(correctable, 0))}, limit ${amount(LIMIT_PER_MINUTE)}`
      if (fatal >= 1) {
        const sentence = `${look.device.name} counts ${amount(fatal)} PCIe errors that were not corrected, limit 1, and ${also}`
        return { severity: 'critical', title, sentence, value: fatal, limit: 1, unit: 'errors in 1 min', neededMs: 0 }
      }
      const sentence = `${look.device.name} counts ${also}`
      return { title, sentence, value: corrected, limit: LIMIT_PER_MINUTE, unit: 'errors in 1 min' }
    },
  }
}

/** The link of a NIC. */
export const nicAer = ruleFor('nic')
/** The link of a GPU. */
export const gpuAer = ruleFor('gpu')
