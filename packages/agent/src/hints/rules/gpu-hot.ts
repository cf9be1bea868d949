import type { Inspection } from '../inspection/inspection.ts'
import { firstKnown } from '../inspection/numbers.ts'
import { GPU } from '../watch/signals.ts'
import { isPassed, type Measure, plainMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { besides, hintDeviceTitle } from './words.ts'

const MARGIN_CELSIUS = 5
/** A GPU this far below its limit is no longer hot. Unit: degrees Celsius. */
const CLEAR_CELSIUS = 3
/** Limit for cards whose driver reports none. Unit: degrees Celsius. */
const MEMORY_CELSIUS = 95

/** A temperature and its limit. */
interface Heat {
  readonly what: string
  readonly measure: Measure
  readonly read: (inspection: Inspection) => number
}

/**
 * The part of a GPU that is too hot, or would be if it were hotter by `above`: the GPU or its memory. A card without a
 * reported limit is never too hot.
 */
function hottestOf(inspection: Inspection, above = 0): Heat | undefined {
  const read = (signal: typeof GPU.temperature) => (one: Inspection) => one.min(signal, 1500)
  const [gpu, memory] = [read(GPU.temperature), read(GPU.memoryTemperature)]
  const limit = inspection.last(GPU.slowdownTemperature) - MARGIN_CELSIUS
  const ofMemory = firstKnown(inspection.last(GPU.memoryTemperatureMax), MEMORY_CELSIUS)
  const all: Heat[] = [
    { what: '', measure: plainMeasure(gpu(inspection) + above, '>=', limit, '°C'), read: gpu },
    { what: ' memory', measure: plainMeasure(memory(inspection) + above, '>', ofMemory, '°C'), read: memory },
  ]
  return all.find(({ measure }) => isPassed(measure))
}

/** A GPU that will soon be slowed down, or memory above its allowed temperature. */
export const gpuHotRule: HintRule = {
  name: 'gpu_hot',
  sees: 'A GPU is near its slowdown temperature, or its memory is above its maximum operating temperature.',
  severity: 'warning',
  of: 'gpu',
  neededMs: 10_000,
  lingerMs: 20_000,
  uses: [GPU.temperature, GPU.slowdownTemperature, GPU.memoryTemperature, GPU.memoryTemperatureMax],
  shows: [GPU.temperature, GPU.memoryTemperature],
  limits: [
    {
      what: 'temperature',
      value: MARGIN_CELSIUS,
      unit: '°C below slowdown, or higher',
      source: 'the limit of the card itself; Oracle alerts at 98 % of it',
    },
    {
      what: 'memory temperature',
      value: MEMORY_CELSIUS,
      unit: '°C, or the limit of the card',
      source: 'maximum operating temperature of HBM',
    },
  ],
  not: {},
  toldApart: ['a GPU that already slows down: `thermal_throttle` reports it'],
  explainedBy: { thermal_throttle: 'device' },
  goesOn: {
    while: `it is no more than ${CLEAR_CELSIUS} °C below its limit`,
    holds: (inspection) => hottestOf(inspection, CLEAR_CELSIUS) !== undefined,
  },
  find(inspection) {
    const hot = hottestOf(inspection)
    if (hot === undefined) return undefined
    const { what, measure, read } = hot
    const others = besides(inspection.usual(read), (usual) => measure.write(usual, 0))
    return {
      title: `${hintDeviceTitle(inspection.device)}${what} is hot`,
      measure,
      sentence: (value, limit) => `${inspection.device.name}${what} is at ${value}${others}, ${limit}`,
    }
  },
}
