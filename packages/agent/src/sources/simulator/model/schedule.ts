import type { NicPlace, NodeClass } from '../classes/node-class.ts'
import type { EffectSpan, Effects } from '../effects.ts'
import type { ScheduleOrigin } from '../node-state.ts'
import { aerSegment } from './aer.ts'
import { type Combined, type CombinedGpu, type CombinedNic, combineAt } from './combine.ts'
import { type GpuLevels, layOut, otherParts, trainingParts } from './gpu-segment.ts'
import { deviceKey } from './hash.ts'
import { COOL, celsiusAfter, type Heat, heatAt, LIMITS, secondsUntil, softHeat, steadyCelsius } from './heat.ts'
import { hostGrowth, hostNumbers } from './host-segment.ts'
import { countBefore, growthOf } from './nic-segment.ts'
import { type Pace, paceOf, slowdownByLimit } from './pace.ts'
import { SLOT_S } from './phases.ts'
import { GPU_COUNT, HOST_COUNT, NIC_COUNT, NIC_QUANTITIES } from './quantities.ts'
import { locate, SchedulePosition } from './schedule-position.ts'
import type { GpuSegment, NicSegment, Segment } from './segment.ts'
import { aerNumbers, gpuIntegrals, nicNumbers } from './values.ts'

/** Activity of the job without faults. */
export type Workload = 'training' | 'inference'

/** Input of a schedule. The same input gives the same schedule. */
export interface ScheduleInput {
  readonly seed: number
  readonly node: NodeClass
  readonly workload: Workload
  readonly effects: readonly Effects[]
  /** Start of the schedule instead of the epoch; everything before stays unchanged. */
  readonly origin?: ScheduleOrigin | undefined
  /** PCIe errors that devices list, including those of the effects. */
  readonly aerNames: readonly string[]
}

/** Shortest time between two changes by heat. Unit: seconds. */
const HEAT_STRETCH_S = 1
/** Most changes by heat between two changes by effects; after that, heat no longer changes the pace. */
const HEAT_CHANGES_LIMIT = 1000

/**
 * Divides time, from the epoch or the origin to its end, into segments with closed forms for all values. Segments are
 * generated on demand, because a scenario may create hundreds of future segments.
 */
export function* compileSegments(input: ScheduleInput): Generator<Segment, void> {
  let fromS = input.origin?.fromS ?? 0
  const spans = input.effects.flatMap(({ spans }) => spans).filter((span) => span.toS > Math.max(span.fromS, fromS))
  const edges = [...new Set(spans.flatMap((span) => [span.fromS, span.toS]))]
  edges.sort((a, b) => a - b)
  const compiler = new Compiler(input)
  for (const toS of [...edges, Number.POSITIVE_INFINITY]) {
    if (!(toS > fromS)) continue
    yield* compiler.stretch(spans, fromS, toS)
    fromS = toS
  }
}

/** Levels of all devices for a given heat. */
interface Built {
  readonly pace: Pace
  readonly levels: readonly GpuLevels[]
  readonly steady: readonly number[]
}

/** Makes the segments in order; each starts with the final numbers of the one before. */
class Compiler {
  readonly #input: ScheduleInput
  readonly #place = new SchedulePosition()
  #gpuBases: Float64Array[]
  #nicBases: Float64Array[]
  #hostBase: Float64Array
  #gpuAer: Float64Array[]
  #nicAer: Float64Array[]
  #celsius: number[] | undefined
  #heat: Heat[]
  #links: readonly CombinedNic['link'][]
  #count = 0

  constructor(input: ScheduleInput) {
    const { node, origin, aerNames } = input
    const copy = (length: number, of?: readonly number[]) => {
      const vector = new Float64Array(length)
      if (of !== undefined) vector.set(of)
      return vector
    }
    this.#input = input
    this.#gpuBases = node.gpus.map((_, index) => copy(GPU_COUNT, origin?.gpus[index]?.base))
    this.#nicBases = node.nics.map((_, index) => copy(NIC_COUNT, origin?.nics[index]?.base))
    this.#hostBase = copy(HOST_COUNT, origin?.host)
    this.#gpuAer = node.gpus.map((_, index) => copy(aerNames.length, origin?.gpus[index]?.aer))
    this.#nicAer = node.nics.map((_, index) => copy(aerNames.length, origin?.nics[index]?.aer))
    this.#celsius = origin?.gpus.map(({ startCelsius }) => startCelsius)
    this.#heat = node.gpus.map((_, index) => origin?.gpus[index]?.heat ?? COOL)
    this.#links = node.nics.map((_, index) => origin?.nics[index]?.link)
  }

  /** A period with constant effects; heat may divide it into several segments. */
  *stretch(spans: readonly EffectSpan[], fromS: number, toS: number): Generator<Segment, void> {
    const combined = combineAt(spans, this.#input.node, fromS)
    let start = fromS
    for (let changes = 0; start < toS; changes++) {
      const built = this.#settle(combined)
      const untilHeat = changes < HEAT_CHANGES_LIMIT ? this.#untilHeatChanges(built.steady) : Number.POSITIVE_INFINITY
      const end = Math.min(toS, start + untilHeat)
      yield this.#segment(combined, built, start, end)
      start = end
    }
  }

  /** Levels under the present heat. If software limits a GPU, its power drops by as much as its cooling needs. */
  #settle(combined: Combined): Built {
    if (this.#heat.some(({ state }) => state === 'soft')) {
      const free = this.#build(
        combined,
        this.#heat.map((heat) => (heat.state === 'soft' ? COOL : heat)),
      )
      this.#heat = this.#heat.map((heat, index) => {
        const place = this.#input.node.gpus[index]
        if (heat.state !== 'soft' || place === undefined) return heat
        const watts = free.levels[index]?.meanWatts ?? 0
        return softHeat(place, combined.gpus[index] as CombinedGpu, free.steady[index] ?? 0, watts)
      })
    }
    return this.#build(combined, this.#heat)
  }

  #build(combined: Combined, heat: readonly Heat[]): Built {
    const { seed, node } = this.#input
    const slowdown = node.gpus.map((place, index) => {
      const { powerLimitWatts, powerBrake } = combined.gpus[index] as CombinedGpu
      const { state, powerFactor } = heat[index] as Heat
      const byLimit = powerLimitWatts === undefined ? 1 : slowdownByLimit(place, powerLimitWatts)
      const byHeat = state === 'hard' || powerBrake === true ? 0.5 : powerFactor ** (1 / 2.4)
      return Math.min(byLimit, byHeat)
    })
    const pace = paceOf(seed, node, combined, slowdown)
    const rhythm = this.#rhythm(combined)
    const levels = node.gpus.map((place, index) => {
      const effect = combined.gpus[index] as CombinedGpu
      const isAtWork = rhythm === 'steps' && effect.state === undefined
      const parts = isAtWork ? trainingParts(pace, index) : otherParts({ rhythm, state: combined.job.state }, effect)
      const hostTxBytes = combined.job.deviceToHostBytesPerS
      return layOut(parts, { seed, place, effect, heat: heat[index] as Heat, hostTxBytes })
    })
    const nodeWatts = levels.reduce((sum, { meanWatts }) => sum + meanWatts, 0) / Math.max(1, levels.length)
    const steady = node.gpus.map((place, index) => {
      return steadyCelsius(place, combined.gpus[index] as CombinedGpu, levels[index]?.meanWatts ?? 0, nodeWatts)
    })
    return { pace, levels, steady }
  }

  #rhythm({ job }: Combined): Segment['rhythm'] {
    if (job.state !== 'running') return 'none'
    return this.#input.workload === 'training' ? 'steps' : 'slots'
  }

  /** Time until the first GPU becomes so hot or so cool that its pace changes. */
  #untilHeatChanges(steady: readonly number[]): number {
    const now = this.#celsius ?? steady
    const times = steady.map((goal, index) => {
      const from = now[index] ?? goal
      const { state } = this.#heat[index] as Heat
      const [up, down] = {
        none: [LIMITS.soft, Number.NaN],
        soft: [LIMITS.hard, LIMITS.softEnd],
        hard: [Number.NaN, LIMITS.hardEnd],
      }[state] as [number, number]
      if (from >= up || from <= down) return HEAT_STRETCH_S
      return Math.min(secondsUntil(from, goal, up), secondsUntil(from, goal, down))
    })
    const until = Math.min(...times.map((time) => (Number.isNaN(time) ? Number.POSITIVE_INFINITY : time)))
    return Math.max(HEAT_STRETCH_S, until)
  }

  #segment(combined: Combined, built: Built, fromS: number, toS: number): Segment {
    const { pace, levels, steady } = built
    const celsius = this.#celsius ?? steady
    const rhythm = this.#rhythm(combined)
    const { state } = combined.job
    const isSlots = rhythm === 'slots'
    const gpus = levels.map((level, index): GpuSegment => {
      const aer = aerSegment(this.#input.aerNames, this.#gpuAer[index] as Float64Array, level.effect.aer)
      const [startCelsius, steadyOfGpu] = [celsius[index] ?? 0, steady[index] ?? 0]
      return { ...level, base: this.#gpuBases[index] as Float64Array, startCelsius, steadyCelsius: steadyOfGpu, aer }
    })
    const nics = this.#input.node.nics.map((nic) => this.#nic(nic, combined, pace, { rhythm, state }))
    this.#links = nics.map(({ effect }) => effect.link)
    const isFirst = this.#count === 0 && this.#input.origin === undefined
    const stepS = isSlots ? SLOT_S : pace.stepS
    if (isFirst) for (const [index, nic] of nics.entries()) countBefore(this.#input.seed, index, nic, stepS)
    const segment: Segment = {
      index: (this.#input.origin?.index ?? 0) + this.#count++,
      fromS,
      toS,
      state,
      rhythm,
      stepS,
      windowStart: isSlots ? 0.5 : pace.windowStartS / pace.stepS,
      windowEnd: isSlots ? 0.6 : pace.windowEndS / pace.stepS,
      gpus,
      nics,
      host: { ...hostGrowth(combined.job, pace, { rhythm, state }), base: this.#hostBase },
    }
    if (Number.isFinite(toS)) this.#endAt(segment)
    return segment
  }

  #nic(nic: NicPlace, combined: Combined, pace: Pace, segment: Pick<Segment, 'rhythm' | 'state'>): NicSegment {
    const effect = combined.nics[nic.index] as CombinedNic
    const before = this.#links[nic.index]
    const base = this.#nicBases[nic.index] as Float64Array
    if (effect.link !== before) base[NIC_QUANTITIES.carrierChanges] = (base[NIC_QUANTITIES.carrierChanges] ?? 0) + 1
    if (effect.link !== before && effect.link === 'down')
      base[NIC_QUANTITIES.linkDowns] = (base[NIC_QUANTITIES.linkDowns] ?? 0) + 1
    const growth = growthOf(this.#input.seed, nic, { job: combined.job, effect, pace }, segment)
    const aer = aerSegment(this.#input.aerNames, this.#nicAer[nic.index] as Float64Array, effect.aer)
    return { ...growth, base, aer }
  }

  /** Saves the numbers at the end of the segment. */
  #endAt(segment: Segment): void {
    const { seed, node } = this.#input
    const place = locate(this.#place, seed, segment, segment.toS)
    const vector = (from: readonly Float64Array[]) => from.map((one) => new Float64Array(one.length))
    this.#gpuBases = vector(this.#gpuBases)
    this.#nicBases = vector(this.#nicBases)
    this.#hostBase = new Float64Array(HOST_COUNT)
    hostNumbers(this.#hostBase, place)
    this.#gpuAer = vector(this.#gpuAer)
    this.#nicAer = vector(this.#nicAer)
    this.#celsius = segment.gpus.map(({ startCelsius, steadyCelsius: goal }) => {
      return celsiusAfter(startCelsius, goal, segment.toS - segment.fromS)
    })
    segment.gpus.forEach((gpu, index) => {
      gpuIntegrals(this.#gpuBases[index] as Float64Array, gpu, place)
      aerNumbers(this.#gpuAer[index] as Float64Array, deviceKey('gpu', index), gpu.aer, place)
    })
    node.nics.forEach((nic) => {
      nicNumbers(this.#nicBases[nic.index] as Float64Array, seed, nic, place)
      const { aer } = segment.nics[nic.index] as NicSegment
      aerNumbers(this.#nicAer[nic.index] as Float64Array, deviceKey('nic', nic.index), aer, place)
    })
    this.#heat = this.#heat.map((heat, index) => heatAt(heat, this.#celsius?.[index] ?? 0))
  }
}
