import type { Look } from '../look/look.ts'
import { firstKnown } from '../look/numbers.ts'
import { GPU } from '../watch/signals.ts'
import type { Rule } from './rule.ts'
import { titleOf } from './words.ts'

const MARGIN_CELSIUS = 5
/** How far below its limit it is hot no more. Unit: degrees Celsius. */
const CLEAR_CELSIUS = 3
/** Of cards whose driver tells no limit. Unit: degrees Celsius. */
const MEMORY_CELSIUS = 95

/** A temperature that is at its limit, and that limit. Unit: degrees Celsius. */
interface Hot {
  readonly what: string
  readonly celsius: number
  readonly limit: number
  readonly read: (look: Look) => number
}

/** What of a GPU is too hot: itself, or its memory. A card that tells no limit of its own has none here. */
function hottestOf(look: Look, below: number): Hot | undefined {
  const read = (signal: typeof GPU.temperature) => (one: Look) => one.min(signal, 1500)
  const [gpu, memory] = [read(GPU.temperature), read(GPU.memoryTemperature)]
  const all: Hot[] = [
    { what: '', celsius: gpu(look), limit: look.last(GPU.slowdownTemperature) - MARGIN_CELSIUS, read: gpu },
    {
      what: ' memory',
      celsius: memory(look),
      limit: firstKnown(look.last(GPU.memoryTemperatureMax), MEMORY_CELSIUS),
      read: memory,
    },
  ]
  return all.find(({ what, celsius, limit }) => (what === '' ? celsius >= limit - below : celsius > limit - below))
}

/** A GPU that will soon be slowed down, or whose memory is hotter than it may be. */
export const gpuHot: Rule = {
  name: 'gpu_hot',
  sees: 'A GPU is near the temperature at which it slows down, or its memory is above the one up to which it may work.',
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
      unit: '°C below slowdown, or more',
      source: 'the limit of the card itself; Oracle alerts at 98 % of it',
    },
    {
      what: 'memory temperature',
      value: MEMORY_CELSIUS,
      unit: '°C, or what the card tells',
      source: 'most at which HBM may work',
    },
  ],
  not: {},
  toldApart: ['a GPU that slows down already: that is told instead'],
  explainedBy: { thermal_throttle: 'device' },
  find(look) {
    // What is hot stays so until it is clearly cooler: one episode is one hint.
    const hot = hottestOf(look, look.scope.isOpen('gpu_hot', look.device) ? CLEAR_CELSIUS : 0)
    if (hot === undefined) return undefined
    const { what, celsius, limit, read } = hot
    const usual = look.usual(read)
    const others = Number.isNaN(usual) ? '' : `, its siblings at ${Math.round(usual)}\u00a0°C`
    return {
      title: `${titleOf(look.device)}${what} is hot`,
      sentence: `${look.device.name}${what} is at ${celsius}\u00a0°C${others}, limit ${limit}\u00a0°C`,
      value: celsius,
      limit,
      unit: '°C',
    }
  },
}
