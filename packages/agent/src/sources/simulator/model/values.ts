import type { NicPlace } from '../classes/node-class.ts'
import { rxCurve, stepsAt, txCurve } from './bursts.ts'
import { packetsPerStep } from './pace.ts'
import { BASIS, BASIS_COUNT, GPU_COUNT, NIC_COUNT } from './quantities.ts'
import { burstTime } from './rare-events.ts'
import type { SchedulePosition } from './schedule-position.ts'
import type { AerSegment, GpuSegment } from './segment.ts'

/** Integrals of a GPU at a position, by {@link GPU}. */
export function gpuIntegrals(out: Float64Array, gpu: GpuSegment, place: SchedulePosition): void {
  const { base, levels, mean } = gpu
  if (place.segment.rhythm === 'slots') {
    for (let i = 0; i < GPU_COUNT; i++) {
      const decode = levels[GPU_COUNT + i] as number
      out[i] = (base[i] as number) + decode * place.elapsedS + ((levels[i] as number) - decode) * place.prefillS
    }
    return
  }
  const { startS, lengthS, theta } = place
  const endS = startS + lengthS
  const phase = phaseOf(gpu, place)
  const row = phase * GPU_COUNT
  const inPhase = Math.max(0, theta - (gpu.starts[phase] as number))
  const { before } = gpu
  for (let i = 0; i < GPU_COUNT; i++) {
    // Limited by the start of the next phase, because rounding must never decrease a counter.
    const most = before[row + GPU_COUNT + i] as number
    const inStep = Math.min(most, (before[row + i] as number) + (levels[row + i] as number) * inPhase)
    const atStart = (base[i] as number) + (mean[i] as number) * startS
    out[i] = Math.min((base[i] as number) + (mean[i] as number) * endS, atStart + lengthS * inStep)
  }
}

/** Returns the phase of a GPU. */
export function phaseOf({ starts }: GpuSegment, { segment, theta, isPrefill }: SchedulePosition): number {
  if (segment.rhythm === 'slots') return isPrefill ? 0 : 1
  let phase = starts.length - 1
  while (phase > 0 && theta < (starts[phase] as number)) phase--
  return phase
}

/** Numbers of a NIC at a position, by {@link NIC}, with fractions. */
export function nicNumbers(out: Float64Array, seed: number, nic: NicPlace, place: SchedulePosition): void {
  const segment = place.segment.nics[nic.index]
  if (segment === undefined) return
  const { base, growth } = segment
  const packets = packetsPerStep(nic)
  const tx = stepsAt(txCurve(seed, nic.index, place, segment, packets), place.theta)
  const rx = stepsAt(rxCurve(seed, nic.index, place, segment, packets), place.theta)
  const { elapsedS } = place
  for (let i = 0, row = 0; i < NIC_COUNT; i++, row += BASIS_COUNT) {
    out[i] =
      (base[i] as number) +
      (growth[row + BASIS.elapsedS] as number) * elapsedS +
      (growth[row + BASIS.txSteps] as number) * tx +
      (growth[row + BASIS.rxSteps] as number) * rx
  }
}

/**
 * PCIe errors of a device at a position, in the order of the schedule's names. They come in bursts specific to the
 * device.
 */
export function aerNumbers(out: Float64Array, key: number, { base, perS }: AerSegment, place: SchedulePosition): void {
  const { fromS } = place.segment
  const inBursts = burstTime(fromS + place.elapsedS, key) - burstTime(fromS, key)
  for (let i = 0; i < out.length; i++) out[i] = (base[i] as number) + (perS[i] as number) * inBursts
}
