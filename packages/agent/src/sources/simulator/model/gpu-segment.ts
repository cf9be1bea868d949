import type { GpuPlace } from '../classes/node-class.ts'
import type { CombinedGpu } from './combine.ts'
import { deviceKey, normal, STREAM } from './hash.ts'
import type { Heat } from './heat.ts'
import type { Pace } from './pace.ts'
import {
  ACTIVITIES,
  type Activity,
  type ActivityName,
  PHASES,
  SHARE,
  STEP_S,
  wantedWatts,
  writeLevels,
} from './phases.ts'
import { GPU_COUNT, GPU_QUANTITIES } from './quantities.ts'
import type { GpuSegment, Segment } from './segment.ts'

/** Bits of the reasons for reduced clocks. */
const REASON = { idle: 0x1, powerCap: 0x4, hardware: 0x8, softThermal: 0x20, hardThermal: 0x40, brake: 0x80 }

/** A part of a GPU's time in a step. */
interface Part {
  readonly does: ActivityName
  /** Share of a step. */
  readonly share: number
}

/** Activities of a GPU in a step of training, in order. */
export function trainingParts(pace: Pace, gpu: number): Part[] {
  const computeS = pace.computeS[gpu] ?? 0
  const forwardShare = SHARE.forward / (SHARE.forward + SHARE.backward)
  const seconds = {
    data: pace.dataS,
    forward: computeS * forwardShare,
    backward: computeS * (1 - forwardShare),
    wait: pace.slowestS - computeS + pace.stalledS,
    collective: pace.collectiveS,
    optimizer: STEP_S * SHARE.optimizer,
  }
  return PHASES.map((does) => ({ does, share: seconds[does] / pace.stepS }))
}

/** Activities of a GPU without steps of training. */
export function otherParts({ rhythm, state }: Pick<Segment, 'rhythm' | 'state'>, effect: CombinedGpu): Part[] {
  if (rhythm === 'slots') return [part('prefill', PREFILL_MEAN), part('decode', 1 - PREFILL_MEAN)]
  if (effect.state !== undefined) return [part('idle')]
  if (state === 'stuck') return [part('wait')]
  return [part(state === 'checkpoint' ? 'checkpoint' : 'idle')]
}

/** Mean share of prefill in inference. */
export const PREFILL_MEAN = 0.35

function part(does: ActivityName, share = 1): Part {
  return { does, share }
}

/** Conditions that affect the levels of a GPU, besides its activity. */
export interface GpuShape {
  readonly seed: number
  readonly place: GpuPlace
  readonly effect: CombinedGpu
  readonly heat: Heat
  /** Copies to the host. Unit: bytes per second. */
  readonly hostTxBytes: number
}

/** Levels, clocks and reasons of a GPU. The schedule adds integrals and temperatures. */
export type GpuLevels = Omit<GpuSegment, 'base' | 'startCelsius' | 'steadyCelsius' | 'aer'>

/** Arranges the parts of a step in time. */
export function layOut(parts: readonly Part[], shape: GpuShape): GpuLevels {
  const count = parts.length
  const starts = new Float64Array(count)
  const clocks = new Float64Array(count)
  const reasons = new Float64Array(count)
  const levels = new Float64Array(count * GPU_COUNT)
  const before = new Float64Array((count + 1) * GPU_COUNT)
  const mean = new Float64Array(GPU_COUNT)
  let start = 0
  parts.forEach(({ does, share }, phase) => {
    starts[phase] = start
    start += share
    const row = levels.subarray(phase * GPU_COUNT, (phase + 1) * GPU_COUNT)
    ;[clocks[phase], reasons[phase]] = writePhase(row, ACTIVITIES[does], shape, does)
    before.set(mean, phase * GPU_COUNT)
    row.forEach((level, quantity) => {
      mean[quantity] = (mean[quantity] ?? 0) + share * level
    })
  })
  before.set(mean, count * GPU_COUNT)
  return {
    effect: shape.effect,
    heat: shape.heat,
    starts,
    clocks,
    reasons,
    levels,
    before,
    mean,
    meanWatts: mean[GPU_QUANTITIES.energyJ] ?? 0,
  }
}

/** Writes the levels of one phase. Returns its clock in MHz and the reasons for it. */
function writePhase(row: Float64Array, does: Activity, shape: GpuShape, name: ActivityName): [number, number] {
  const { seed, place, effect, heat, hostTxBytes } = shape
  const { model } = place
  const load = loadOf(effect)
  writeLevels(row, does, model, load)
  row[GPU_QUANTITIES.hostTxBytes] = (row[GPU_QUANTITIES.hostTxBytes] ?? 0) + hostTxBytes
  row[GPU_QUANTITIES.correctedErrors] = (effect.correctedErrorsPerMinute ?? 0) / 60
  if (effect.timeSlices !== undefined && name !== 'idle') row[GPU_QUANTITIES.util] = 1
  const spread = 1 + 0.02 * normal(seed, STREAM.device, deviceKey('gpu', place.index), 1)
  const floor = Math.min(model.contextWatts, wantedWatts(does, model))
  const wanted = floor + (wantedWatts(does, model) * spread - floor) * load
  const limit = effect.powerLimitWatts ?? model.powerLimitWatts
  const isCompute = does.power > 0.5
  const held = isCompute ? heat.powerFactor * (effect.powerBrake === true ? 0.5 : 1) : 1
  row[GPU_QUANTITIES.energyJ] = Math.min(wanted * held, limit)
  let reasons = name === 'idle' ? REASON.idle : 0
  if (isCompute && wanted * held >= 0.955 * limit) reasons |= REASON.powerCap
  if (isCompute && heat.state === 'soft') reasons |= REASON.softThermal
  if (isCompute && heat.state === 'hard') reasons |= REASON.hardThermal | REASON.hardware
  if (effect.powerBrake === true) reasons |= REASON.brake | REASON.hardware
  row[GPU_QUANTITIES.powerCapS] = reasons & REASON.powerCap ? 1 : 0
  row[GPU_QUANTITIES.softThermalS] = reasons & REASON.softThermal ? 1 : 0
  row[GPU_QUANTITIES.hardThermalS] = reasons & REASON.hardThermal ? 1 : 0
  row[GPU_QUANTITIES.brakeS] = reasons & REASON.brake ? 1 : 0
  return [clockOf(model.smClockMHz, row[GPU_QUANTITIES.energyJ] ?? 0, wanted, shape, isCompute), reasons]
}

/** Clock in steps of 15 MHz, limited by power and halved by hardware. */
function clockOf(highest: number, watts: number, wanted: number, shape: GpuShape, isCompute: boolean): number {
  const { effect, heat, place } = shape
  const half = effect.powerBrake === true || heat.state === 'hard'
  // Above 80 % of the limit, the highest clock would need more power than the board allows.
  const byBoard = isCompute ? Math.min(1, (0.8 * place.model.powerLimitWatts) / wanted) ** (1 / 2.4) : 1
  const byLimit = isCompute ? Math.min(1, watts / wanted) ** (1 / 2.4) : 1
  const slowed = isCompute ? Math.min(1, 1 / (effect.computeFactor ?? 1)) ** 0.9 : 1
  const clock = half ? highest / 2 : highest * byBoard * byLimit * slowed
  return Math.floor(clock / 15) * 15
}

/** Share of a GPU in use: all of it, or the loaded shares of its MIG instances. */
export function loadOf({ mig }: CombinedGpu): number {
  return mig === undefined
    ? 1
    : mig.reduce((sum, { profile, load }) => sum + (load * Number.parseInt(profile, 10)) / 7, 0)
}
