import type { JobState } from '../effects.ts'
import type { CombinedGpu, CombinedNic } from './combine.ts'
import type { Heat } from './heat.ts'

/** A period in which the effects do not change, so every value has a closed form. */
export interface Segment {
  readonly index: number
  readonly fromS: number
  readonly toS: number
  readonly state: JobState
  /** How time is divided: `steps` of training, `slots` of inference, or `none`. */
  readonly rhythm: 'steps' | 'slots' | 'none'
  /** Mean length of a step or slot. Unit: seconds. */
  readonly stepS: number
  /** Part of a step in which the NICs are busy, as shares of the step. */
  readonly windowStart: number
  readonly windowEnd: number
  readonly gpus: readonly GpuSegment[]
  readonly nics: readonly NicSegment[]
  readonly host: HostSegment
}

/** One GPU in a segment. Matrices have a row of {@link GPU_COUNT} numbers per phase. */
export interface GpuSegment {
  readonly effect: CombinedGpu
  /** Start of each phase as a share of a step. Without steps there is one phase; slots have prefill and decode. */
  readonly starts: Float64Array
  readonly levels: Float64Array
  /**
   * Integral of the levels from the start of a step to the start of each phase, and to the end, as a share of the step.
   */
  readonly before: Float64Array
  /** Mean of the levels over a step. */
  readonly mean: Float64Array
  /** Integrals at the start of the segment. */
  readonly base: Float64Array
  /** SM clock and throttle reasons of each phase. Unit of clocks: MHz. */
  readonly clocks: Float64Array
  readonly reasons: Float64Array
  /** Temperature at the start of the segment, and the temperature that it approaches. Unit: degrees Celsius. */
  readonly startCelsius: number
  readonly steadyCelsius: number
  readonly meanWatts: number
  readonly heat: Heat
  readonly aer: AerSegment
}

/** One NIC in a segment. */
export interface NicSegment {
  readonly effect: CombinedNic
  /** Numbers at the start of the segment. */
  readonly base: Float64Array
  /** Growth of each number for each of {@link BASIS}: a row of {@link BASIS_COUNT} per number. */
  readonly growth: Float64Array
  /** Time that the bytes of a step take, and the busy share of a chunk's time. */
  readonly txBusyS: number
  readonly rxBusyS: number
  readonly chunkDuty: number
  readonly aer: AerSegment
}

/** The host in a segment. Vectors are by {@link HOST}. */
export interface HostSegment {
  /** Numbers at the start of the segment. */
  readonly base: Float64Array
  /** Growth per second: always, and in addition while the job waits for data. */
  readonly always: Float64Array
  readonly inData: Float64Array
  /** Share of a step in which the job waits for data; 0 without steps. */
  readonly dataShare: number
}

/** PCIe errors of a device in a segment, in the order of the schedule's names. */
export interface AerSegment {
  readonly base: Float64Array
  readonly perS: Float64Array
}
