import type { JobState } from '../effects.ts'
import type { CombinedGpu, CombinedNic } from './combine.ts'
import type { Heat } from './heat.ts'

/** A stretch of time in which nothing changes but time: every value in it has a closed form. */
export interface Segment {
  readonly index: number
  readonly fromS: number
  readonly toS: number
  readonly state: JobState
  /** How time is cut: `steps` of training, `slots` of inference, or not at all. */
  readonly rhythm: 'steps' | 'slots' | 'none'
  /** Mean length of a step or slot. Unit: seconds. */
  readonly stepS: number
  /** Where in a step the NICs are busy, as shares of the step. */
  readonly windowStart: number
  readonly windowEnd: number
  readonly gpus: readonly GpuSegment[]
  readonly nics: readonly NicSegment[]
  readonly host: HostSegment
}

/** One GPU in a segment. Matrices have a row of {@link GPU_COUNT} a phase. */
export interface GpuSegment {
  readonly effect: CombinedGpu
  /**
   * Where each phase begins, as shares of a step. One phase where there are no steps; prefill and decode where there
   * are slots.
   */
  readonly starts: Float64Array
  readonly levels: Float64Array
  /** Integral of the levels over a step from its start to that of each phase, and to its end, as share of the step. */
  readonly before: Float64Array
  /** Mean of the levels over a step. */
  readonly mean: Float64Array
  /** Integrals when the segment begins. */
  readonly base: Float64Array
  /** SM clock and throttle reasons of each phase. Unit of clocks: MHz. */
  readonly clocks: Float64Array
  readonly reasons: Float64Array
  /** Temperature when the segment begins, and that to which it goes. Unit: degrees Celsius. */
  readonly startCelsius: number
  readonly steadyCelsius: number
  readonly meanWatts: number
  readonly heat: Heat
  readonly aer: AerSegment
}

/** One NIC in a segment. */
export interface NicSegment {
  readonly effect: CombinedNic
  /** Numbers when the segment begins. */
  readonly base: Float64Array
  /** Growth of each number by each of {@link BASIS}, a row of {@link BASIS_COUNT} a number. */
  readonly growth: Float64Array
  /** Time that a step's bytes take, and what part of a chunk's time is busy. */
  readonly txBusyS: number
  readonly rxBusyS: number
  readonly chunkDuty: number
  readonly aer: AerSegment
}

/** The host in a segment. Vectors are by {@link HOST}. */
export interface HostSegment {
  /** Numbers when the segment begins. */
  readonly base: Float64Array
  /** Growth a second: all the time, and on top of it while the job waits for data. */
  readonly always: Float64Array
  readonly inData: Float64Array
  /** Share of a step in which the job waits for data; 0 if there are no steps. */
  readonly dataShare: number
}

/** PCIe errors of a device in a segment; in the order of the schedule's names. */
export interface AerSegment {
  readonly base: Float64Array
  readonly perS: Float64Array
}
