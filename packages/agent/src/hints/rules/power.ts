import { countOf } from '@sonde/sdk/internal'
import type { HintDevice } from '../device.ts'
import type { Inspection } from '../inspection/inspection.ts'
import { median } from '../inspection/numbers.ts'
import type { Scope } from '../inspection/scope.ts'
import { isCollective, workingGpus } from '../inspection/workload.ts'
import { GPU } from '../watch/signals.ts'
import { countMeasure, plainMeasure, shareMeasure } from './measure.ts'
import type { HintRule, RuleFinding } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

const BRAKE_BIT = 0x80
const LIMIT_SHARE = 0.98
const CAPPED_TIME = 0.9
const CLOCK_SHARE = 0.8
/** A GPU at full load runs at this share of its highest clock or above: 1400 of 1980 MHz. */
const FULL_LOAD_SHARE = 0.7
const NANOSECONDS = 1e9
const BRAKE_OVER_MS = 5000

/**
 * The device of a finding: one GPU, or the node if there are several. An open hint about the node continues with a
 * single GPU, so that one episode gives one hint.
 */
function concerned(
  rule: string,
  inspections: readonly Inspection[],
  scope: Scope,
): { device: HintDevice; subject: string; affected: HintDevice[] } {
  const [first] = inspections
  const affected = inspections.map(({ device }) => device)
  if (inspections.length === 1 && first !== undefined) {
    const subject = hintDeviceTitle(first.device)
    if (scope.isOpen(rule, scope.node)) return { device: scope.node, subject, affected }
    return { device: first.device, subject, affected: [] }
  }
  const subject =
    inspections.length === scope.gpus.length ? `All ${inspections.length} GPUs` : `${inspections.length} GPUs`
  return { device: scope.node, subject, affected }
}

function limitShare(inspection: Inspection): number {
  return inspection.last(GPU.powerLimit) / inspection.last(GPU.powerLimitDefault)
}

/** The usual clock of the siblings, without GPUs that MIG splits, which do other work. Unit: MHz. */
function usualClock(inspection: Inspection): number {
  return inspection.usual((other) => (other.last(GPU.migMode) === 1 ? Number.NaN : other.mean(GPU.clock)))
}

/** Whether a GPU is slow because it is at its power limit. */
function isStarved(inspection: Inspection): boolean {
  const capped = inspection.rate(GPU.powerCapped) / NANOSECONDS
  if (!(capped > CAPPED_TIME)) return false
  const isSlow = inspection.mean(GPU.clock) < FULL_LOAD_SHARE * (inspection.last(GPU.clockMax) / 1e6)
  return isSlow && inspection.mean(GPU.clock) < CLOCK_SHARE * usualClock(inspection)
}

/** A median with its unit, after some words; empty if no GPU reports it. */
function usually(
  words: string,
  inspections: readonly Inspection[],
  read: (inspection: Inspection) => number,
  unit: string,
): string {
  const usual = median(inspections.map(read))
  return Number.isNaN(usual) ? '' : `, ${words} ${Math.round(usual)}\u00a0${unit}`
}

/** The GPU with the smallest number. */
function leastOf(inspections: readonly Inspection[], read: (inspection: Inspection) => number): Inspection | undefined {
  return inspections.reduce<Inspection | undefined>(
    (least, one) => (least && read(least) <= read(one) ? least : one),
    undefined,
  )
}

/** Power limits below the default limits. */
export const powerCapRule: HintRule = {
  name: 'power_cap',
  sees: 'Working GPUs have a lower power limit than the default of their boards, or a GPU at its power limit is far slower than its siblings.',
  severity: 'warning',
  of: 'node',
  neededMs: 10_000,
  uses: [GPU.powerLimit, GPU.powerLimitDefault, GPU.powerCapped, GPU.reasons, GPU.clock, GPU.clockMax, GPU.power],
  shows: [GPU.powerLimit, GPU.power, GPU.clock],
  limits: [
    { what: 'power limit', value: LIMIT_SHARE * 100, unit: '% of default', source: 'an operator set any other limit' },
    {
      what: 'time at the limit',
      value: CAPPED_TIME * 100,
      unit: '%, with a clock below 80 % of the median',
      source: 'compared with siblings',
    },
  ],
  not: {},
  toldApart: [
    'a straggler that others wait for: `straggler` reports it',
    'a GPU that is always at its default limit: normal at full load, even if its siblings wait for it with higher clocks',
  ],
  explainedBy: { power_brake: 'node' },
  find({ scope }) {
    const working = workingGpus(scope)
    const limited = working.filter((inspection) => limitShare(inspection) < LIMIT_SHARE)
    // If GPUs wait for one another, the slow GPU is a straggler, whatever the cause.
    const starved = isCollective(scope) ? [] : working.filter(isStarved)
    const lowest = leastOf(limited, limitShare)
    if (lowest !== undefined) {
      const { subject, ...place } = concerned('power_cap', limited, scope)
      const most = Math.round(lowest.last(GPU.powerLimitDefault))
      const watts = `${Math.round(lowest.last(GPU.powerLimit))}\u00a0W of ${most}\u00a0W`
      const draws = usually('drawing', limited, (inspection) => inspection.mean(GPU.power), 'W')
      const runs = usually('clock', limited, (inspection) => inspection.mean(GPU.clock), 'MHz')
      return {
        ...place,
        title: `${subject} ${limited.length === 1 ? 'has' : 'have'} a lower power limit`,
        measure: shareMeasure(limitShare(lowest), '<', LIMIT_SHARE, '% of default'),
        sentence: (value, limit) =>
          `${subject}: power limited to ${watts}, ${value} of the default, ${limit}${draws}${runs}`,
      }
    }
    const slowest = leastOf(starved, (inspection) => inspection.mean(GPU.clock))
    if (slowest === undefined) return undefined
    const { subject, ...place } = concerned('power_cap', starved, scope)
    const usual = usualClock(slowest)
    return {
      ...place,
      title: `${subject} ${starved.length === 1 ? 'needs' : 'need'} more power`,
      measure: plainMeasure(slowest.mean(GPU.clock), '<', CLOCK_SHARE * usual, 'MHz'),
      sentence: (value, limit) =>
        `${slowest.device.name} runs at ${value}, its siblings at ${Math.round(usual)}\u00a0MHz, ${limit}; it is at its power limit all the time${usually('drawing', starved, (inspection) => inspection.mean(GPU.power), 'W')}`,
    }
  },
}

/** The signal with which a power supply or rack halves the clocks. */
export const powerBrakeRule: HintRule = {
  name: 'power_brake',
  sees: 'The power brake halved the clocks: a power supply failed, or the rack draws too much.',
  severity: 'critical',
  of: 'node',
  neededMs: 0,
  isEvent: true,
  lingerMs: 10_000,
  uses: [GPU.reasons, GPU.braked, GPU.clock, GPU.power],
  shows: [GPU.reasons, GPU.clock, GPU.power],
  limits: [
    {
      what: 'bit 0x80 of the clock reasons',
      value: 1,
      unit: 'sample',
      source: 'gpud watches it; a brake is never normal',
    },
  ],
  not: {},
  toldApart: ['heat: temperatures are low', 'a power limit: it does not halve clocks'],
  find({ scope }): RuleFinding | undefined {
    const braked = scope.gpus.filter(
      (inspection) =>
        (inspection.bits(GPU.reasons, 2000) & BRAKE_BIT) !== 0 || inspection.increase(GPU.braked, BRAKE_OVER_MS) > 0,
    )
    if (braked.length === 0) return undefined
    const { subject, ...place } = concerned('power_brake', braked, scope)
    // The smallest value during the brake. The newest sample may be from after its end.
    const clock = usually('clock down to', braked, (inspection) => inspection.min(GPU.clock, BRAKE_OVER_MS), 'MHz')
    const power = usually('power down to', braked, (inspection) => inspection.min(GPU.power, BRAKE_OVER_MS), 'W')
    return {
      ...place,
      title: `The power brake slows down ${braked.length === 1 ? subject : `${subject[0]?.toLowerCase()}${subject.slice(1)}`}`,
      measure: countMeasure(braked.length, '>=', 1, 'GPUs'),
      sentence: (value, limit) =>
        `${value} of ${countOf(scope.gpus.length, 'GPU')} ${braked.length === 1 ? 'signals' : 'signal'} the power brake, ${limit}${clock}${power}`,
    }
  },
}
