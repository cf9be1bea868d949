import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown, maxKnown, sumKnown } from '../inspection/numbers.ts'
import { slowedGpus } from '../inspection/workload.ts'
import { GPU } from '../watch/signals.ts'
import { isPassed, shareMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { besides, hintDeviceTitle } from './words.ts'

const TIME_SHARE = 0.1
const MARGIN_CELSIUS = 3
/** This far below slowdown, an episode is over. The GPU is not even hot then. Unit: degrees Celsius. */
const COOL_CELSIUS = 8
/** Slowdown temperature of cards whose driver reports none. Unit: degrees Celsius. */
const SLOWDOWN_CELSIUS = 89
const THERMAL_BITS = 0x20 | 0x40
const NANOSECONDS = 1e9

/**
 * Share of time in which heat slowed the GPU down. Without a counter, 1 if a recent sample has a thermal bit, otherwise
 * 0.
 */
function throttledShare(inspection: Inspection): number {
  const byReason = sumKnown(inspection.rate(GPU.softwareThermal), inspection.rate(GPU.hardwareThermal))
  const counted = maxKnown(inspection.rate(GPU.thermalViolation), byReason) / NANOSECONDS
  if (!Number.isNaN(counted)) return Math.min(1, counted)
  return (inspection.bits(GPU.reasons, 1000) & THERMAL_BITS) === 0 ? 0 : 1
}

/** Distance to the slowdown temperature. Unit: degrees Celsius. */
function marginOf(inspection: Inspection): number {
  return slowdownOf(inspection) - inspection.max(GPU.temperature, 3000)
}

function slowdownOf(inspection: Inspection): number {
  return firstKnown(inspection.last(GPU.slowdownTemperature), SLOWDOWN_CELSIUS)
}

/** A GPU that is slowed down because it is hot. */
export const thermalThrottleRule: HintRule = {
  name: 'thermal_throttle',
  sees: 'Heat slows a GPU down for much of the time, and the GPU is near its slowdown temperature.',
  severity: 'warning',
  worse: 'critical',
  of: 'gpu',
  neededMs: 10_000,
  lingerMs: 20_000,
  uses: [
    GPU.thermalViolation,
    GPU.softwareThermal,
    GPU.hardwareThermal,
    GPU.temperature,
    GPU.slowdownTemperature,
    GPU.clock,
  ],
  shows: [GPU.temperature, GPU.thermalViolation, GPU.clock],
  limits: [
    { what: 'time slowed down', value: TIME_SHARE * 100, unit: '%', source: 'DCGM warns at any, Oracle at 20 %' },
    {
      what: 'temperature',
      value: MARGIN_CELSIUS,
      unit: '°C below slowdown, or higher',
      source: 'the limit of the card itself',
    },
  ],
  not: {
    'the power brake: it slows down at any temperature': (inspection) =>
      (inspection.bits(GPU.reasons, 3000) & 0x80) !== 0,
  },
  toldApart: ['the power limit (0x4), which does not count as heat', 'a hot idle GPU: it is not slowed down'],
  goesOn: {
    while: `it is no more than ${COOL_CELSIUS} °C below slowdown: the temperature varies by a degree`,
    holds: (inspection) => marginOf(inspection) <= COOL_CELSIUS,
  },
  find(inspection) {
    const measure = shareMeasure(throttledShare(inspection), '>', TIME_SHARE, '% of time')
    if (!isPassed(measure) || !(marginOf(inspection) <= MARGIN_CELSIUS)) return undefined
    const isHard = (inspection.bits(GPU.reasons, 3000) & 0x40) !== 0
    const temperature = inspection.max(GPU.temperature, 3000)
    const others = besides(
      inspection.usual((other) => other.max(GPU.temperature, 3000)),
      (usual) => `${Math.round(usual)}\u00a0°C`,
    )
    return {
      severity: isHard ? 'critical' : 'warning',
      title: `${hintDeviceTitle(inspection.device)} slows down for heat`,
      measure,
      sentence: (value, limit) =>
        `${inspection.device.name} is slowed down for ${value} of the time, ${limit}; it is at ${temperature}\u00a0°C${others}, slowdown at ${slowdownOf(inspection)}\u00a0°C`,
      affected: slowedGpus(inspection),
    }
  },
}
