import { PREFILL_MEAN } from './gpu-segment.ts'
import { STREAM, uniform } from './hash.ts'
import { SLOT_S } from './phases.ts'
import type { Segment } from './segment.ts'

/** Variation of the lengths of steps, as a share of a step. Below 1, so that steps stay in order. */
const JITTER = 0.06
/** Variation of the prefill time between slots, and over a day; with the mean, the share stays between 0 and 1. */
const PREFILL_NOISE = 0.2
const PREFILL_WAVE = 0.14
const DAY_S = 86_400

/** Position of a moment in the schedule. One object is reused, so that reads allocate no memory. */
export class SchedulePosition {
  segment!: Segment
  /** Seconds since the segment began. */
  elapsedS = 0
  /** Number of the step, its start (seconds since the start of the segment), and its length. */
  step = 0
  startS = 0
  lengthS = 0
  /** Position in the step, 0 to 1. */
  theta = 0
  /** Prefill time since the start of the segment, and whether this moment is in prefill; inference only. */
  prefillS = 0
  isPrefill = false
}

/** Finds the position of a moment in a segment. */
export function locate(place: SchedulePosition, seed: number, segment: Segment, t: number): SchedulePosition {
  const elapsedS = Math.min(t, segment.toS) - segment.fromS
  place.segment = segment
  place.elapsedS = elapsedS
  if (segment.rhythm === 'steps') locateStep(place, seed, segment)
  else if (segment.rhythm === 'slots') locateSlot(place, seed)
  else {
    place.step = 0
    place.startS = elapsedS
    place.lengthS = 0
    place.theta = 0
  }
  return place
}

function locateStep(place: SchedulePosition, seed: number, { index, stepS }: Segment): void {
  const { elapsedS } = place
  let step = Math.floor(elapsedS / stepS)
  let start = stepStart(seed, index, stepS, step)
  if (elapsedS < start) {
    step--
    start = stepStart(seed, index, stepS, step)
  }
  let end = stepStart(seed, index, stepS, step + 1)
  if (elapsedS >= end) {
    step++
    start = end
    end = stepStart(seed, index, stepS, step + 1)
  }
  place.step = step
  place.startS = start
  place.lengthS = end - start
  place.theta = (elapsedS - start) / (end - start)
}

function stepStart(seed: number, segment: number, stepS: number, step: number): number {
  return step === 0 ? 0 : stepS * (step + JITTER * (uniform(seed, STREAM.steps, segment, step) - 0.5))
}

function locateSlot(place: SchedulePosition, seed: number): void {
  const { elapsedS, segment } = place
  const slot = Math.floor(elapsedS / SLOT_S)
  const before = prefillBy(seed, segment.index, slot)
  const next = prefillBy(seed, segment.index, slot + 1)
  const ownS = SLOT_S * (next - before)
  const inSlotS = elapsedS - slot * SLOT_S
  place.step = slot
  place.startS = slot * SLOT_S
  place.lengthS = SLOT_S
  place.theta = inSlotS / SLOT_S
  place.isPrefill = inSlotS < ownS
  place.prefillS = Math.min(SLOT_S * next, SLOT_S * before + Math.min(inSlotS, ownS))
}

/** Prefill done in all slots before a slot, in slots. The closed form allows load that varies over the day. */
function prefillBy(seed: number, segment: number, slot: number): number {
  if (slot === 0) return 0
  const turn = (2 * Math.PI * SLOT_S) / DAY_S
  const wave = (PREFILL_WAVE / turn) * (1 - Math.cos(turn * slot))
  return PREFILL_MEAN * slot + wave + PREFILL_NOISE * (uniform(seed, STREAM.prefill, segment, slot) - 0.5)
}
