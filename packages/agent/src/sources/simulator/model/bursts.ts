import { deviceKey, STREAM, uniform } from './hash.ts'
import { PACKET_BYTES } from './pace.ts'
import type { SchedulePosition } from './schedule-position.ts'
import type { NicSegment } from './segment.ts'

/** Buckets of gradients in a step. */
const BUCKETS = 24
/** Bytes sent at once. */
const CHUNK_BYTES = 512 << 10
/** Variation of the bytes of a step. */
const VARIATION = 0.02
/** Delay of received data behind sent data. Unit: seconds. */
const SHIFT_S = 15e-6
/** Turns the key of a NIC into that of its neighbour on another node. */
const NEIGHBOUR = 512

/** Properties of a NIC's traffic that are constant within a step. */
export interface StepCurve {
  /** Bytes at the start and end of the step, in steps' worth. */
  readonly done: number
  readonly next: number
  /** Window of traffic in the step, as shares of the step. */
  readonly windowStart: number
  readonly windowWidth: number
  /** Busy share of a bucket's time and of a chunk's time. */
  readonly duty: number
  readonly chunkDuty: number
  /** Chunks per bucket. */
  readonly chunks: number
  /** Subtracted from the position in the step. */
  readonly shift: number
}

const NO_TRAFFIC: StepCurve = {
  ...{ done: 0, next: 0, windowStart: 0, windowWidth: 1, duty: 1, chunkDuty: 1, chunks: 1, shift: 0 },
}

/** Curve of the bytes sent within the step of a position: they are sent in bursts. */
export function txCurve(
  seed: number,
  nic: number,
  place: SchedulePosition,
  segment: NicSegment,
  packets: number,
): StepCurve {
  return curveOf(seed, nic, place, { busyS: segment.txBusyS, shiftS: 0, chunkDuty: segment.chunkDuty, packets })
}

/** Curve of the bytes received: the bursts of the NIC's neighbour in the ring. */
export function rxCurve(
  seed: number,
  nic: number,
  place: SchedulePosition,
  segment: NicSegment,
  packets: number,
): StepCurve {
  // The neighbour's traffic varies independently.
  const { rxBusyS: busyS, chunkDuty } = segment
  return curveOf(seed, nic + NEIGHBOUR, place, { busyS, shiftS: SHIFT_S, chunkDuty, packets })
}

function curveOf(
  seed: number,
  nic: number,
  { segment, step, lengthS }: SchedulePosition,
  traffic: { readonly busyS: number; readonly shiftS: number; readonly chunkDuty: number; readonly packets: number },
): StepCurve {
  const { busyS, shiftS, chunkDuty, packets } = traffic
  if (lengthS === 0 || busyS === 0) return NO_TRAFFIC
  const done = stepsDone(seed, nic, segment.index, step)
  const next = stepsDone(seed, nic, segment.index, step + 1)
  const windowWidth = segment.windowEnd - segment.windowStart
  return {
    done,
    next,
    windowStart: segment.windowStart,
    windowWidth,
    // Bursts always have the speed of the link, whatever the length of the step.
    duty: (busyS * (next - done)) / (windowWidth * lengthS),
    chunkDuty,
    chunks: Math.ceil((packets * PACKET_BYTES) / BUCKETS / CHUNK_BYTES),
    shift: shiftS / lengthS,
  }
}

/** Steps' worth of bytes since the start of the segment, at a position in the step from 0 to 1. */
export function stepsAt(curve: StepCurve, theta: number): number {
  const { done, next, windowStart, windowWidth, duty, chunkDuty, chunks, shift } = curve
  const shifted = Math.max(0, theta - shift)
  const x = Math.min(1, Math.max(0, (shifted - windowStart) / windowWidth)) * BUCKETS
  const bucket = Math.floor(x)
  if (bucket >= BUCKETS) return next
  const inBurst = Math.min(1, (x - bucket) / duty)
  const y = inBurst * chunks
  const chunk = Math.floor(y)
  const inBucket = chunk >= chunks ? 1 : (chunk + Math.min(1, (y - chunk) / chunkDuty)) / chunks
  return Math.min(next, done + ((next - done) * (bucket + inBucket)) / BUCKETS)
}

function stepsDone(seed: number, nic: number, segment: number, step: number): number {
  if (step === 0) return 0
  const noise = uniform(seed, STREAM.traffic, deviceKey('nic', nic) ^ (segment << 16), step) - 0.5
  return step + VARIATION * noise
}

/** Whether a NIC is in the middle of a burst. */
export function isInBurst({ segment, theta, lengthS }: SchedulePosition): boolean {
  return lengthS > 0 && theta >= segment.windowStart && theta < segment.windowEnd
}
