import { deviceKey, STREAM, uniform } from './hash.ts'
import { PACKET_BYTES } from './pace.ts'
import type { Place } from './place.ts'
import type { NicSegment } from './segment.ts'

/** Buckets into which the gradients of a step are cut. */
const BUCKETS = 24
/** Bytes that are sent in one go. */
const CHUNK_BYTES = 512 << 10
/** How much the bytes of a step vary. */
const VARIATION = 0.02
/** By how much what comes in is later than what goes out. Unit: seconds. */
const SHIFT_S = 15e-6
/** Makes the key of a NIC that of its neighbour on another node. */
const NEIGHBOUR = 512

/** Steps' worth of bytes that a NIC has sent since the segment began: rises in bursts within a step. */
export function txSteps(seed: number, nic: number, place: Place, { txBusyS, chunkDuty }: NicSegment, packets: number) {
  return stepsBy(seed, nic, place, place.theta, txBusyS, chunkDuty, packets)
}

/** The same of what it has received: the bursts of its neighbour in the ring. */
export function rxSteps(seed: number, nic: number, place: Place, { rxBusyS, chunkDuty }: NicSegment, packets: number) {
  const shift = place.lengthS > 0 ? SHIFT_S / place.lengthS : 0
  // What the neighbour sends varies by itself.
  return stepsBy(seed, nic + NEIGHBOUR, place, Math.max(0, place.theta - shift), rxBusyS, chunkDuty, packets)
}

function stepsBy(
  seed: number,
  nic: number,
  { segment, step, lengthS }: Place,
  theta: number,
  busyS: number,
  chunkDuty: number,
  packets: number,
): number {
  if (lengthS === 0 || busyS === 0) return 0
  const done = stepsDone(seed, nic, segment.index, step)
  const next = stepsDone(seed, nic, segment.index, step + 1)
  const amount = next - done
  const width = segment.windowEnd - segment.windowStart
  const x = Math.min(1, Math.max(0, (theta - segment.windowStart) / width)) * BUCKETS
  const bucket = Math.floor(x)
  if (bucket >= BUCKETS) return next
  // Bursts have the speed of the link, whatever the length of the step.
  const duty = (busyS * amount) / (width * lengthS)
  const inBurst = Math.min(1, (x - bucket) / duty)
  const chunks = Math.ceil((packets * PACKET_BYTES) / BUCKETS / CHUNK_BYTES)
  const y = inBurst * chunks
  const chunk = Math.floor(y)
  const inBucket = chunk >= chunks ? 1 : (chunk + Math.min(1, (y - chunk) / chunkDuty)) / chunks
  return Math.min(next, done + (amount * (bucket + inBucket)) / BUCKETS)
}

function stepsDone(seed: number, nic: number, segment: number, step: number): number {
  if (step === 0) return 0
  const noise = uniform(seed, STREAM.traffic, deviceKey('nic', nic) ^ (segment << 16), step) - 0.5
  return step + VARIATION * noise
}

/** Whether a NIC is in the middle of a burst. */
export function isInBurst({ segment, theta, lengthS }: Place): boolean {
  return lengthS > 0 && theta >= segment.windowStart && theta < segment.windowEnd
}
