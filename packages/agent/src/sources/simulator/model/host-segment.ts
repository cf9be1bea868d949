import type { CombinedJob } from './combine.ts'
import type { Pace } from './pace.ts'
import { HOST_COUNT, HOST_QUANTITIES } from './quantities.ts'
import type { SchedulePosition } from './schedule-position.ts'
import type { HostSegment, Segment } from './segment.ts'

/** Assumed shares of time in which some tasks of the host wait, and in which all runnable tasks wait. */
const SHARE = {
  /** Permanent activity: loaders, logs, monitoring. */
  ioWaiting: 0.003,
  ioStalled: 0.001,
  cpuWaiting: 0.012,
  /** While the job waits for data. Ranks poll meanwhile, so most of the time some task can run. */
  dataWaiting: 0.9,
  dataStalled: 0.15,
  /** While a checkpoint is written. */
  writingWaiting: 0.45,
  writingStalled: 0.05,
} as const
/** Remaining share of the activity without a job. */
const IDLE_SHARE = 0.1

/** Growth of the host's pressure in a segment. */
export function hostGrowth(
  { storageBytesPerS }: CombinedJob,
  { dataS, stepS }: Pace,
  { rhythm, state }: Pick<Segment, 'rhythm' | 'state'>,
): Omit<HostSegment, 'base'> {
  const always = new Float64Array(HOST_COUNT)
  const inData = new Float64Array(HOST_COUNT)
  const isWriting = storageBytesPerS > 0
  const activity = state === 'idle' ? IDLE_SHARE : 1
  always[HOST_QUANTITIES.ioWaitingS] = activity * SHARE.ioWaiting + (isWriting ? SHARE.writingWaiting : 0)
  always[HOST_QUANTITIES.ioStalledS] = activity * SHARE.ioStalled + (isWriting ? SHARE.writingStalled : 0)
  always[HOST_QUANTITIES.cpuWaitingS] = activity * SHARE.cpuWaiting
  if (rhythm !== 'steps') return { always, inData, dataShare: 0 }
  // Tasks that wait already are not counted twice.
  inData[HOST_QUANTITIES.ioWaitingS] = Math.max(0, SHARE.dataWaiting - (always[HOST_QUANTITIES.ioWaitingS] as number))
  inData[HOST_QUANTITIES.ioStalledS] = Math.max(0, SHARE.dataStalled - (always[HOST_QUANTITIES.ioStalledS] as number))
  return { always, inData, dataShare: dataS / stepS }
}

/** Pressure of the host at a position, by {@link HOST_QUANTITIES}. */
export function hostNumbers(out: Float64Array, { segment, elapsedS, startS, lengthS, theta }: SchedulePosition): void {
  const { base, always, inData, dataShare } = segment.host
  // A step starts with the wait for data.
  const dataS = dataShare * startS + Math.min(theta, dataShare) * lengthS
  for (let i = 0; i < HOST_COUNT; i++) {
    out[i] = (base[i] as number) + (always[i] as number) * elapsedS + (inData[i] as number) * dataS
  }
}
