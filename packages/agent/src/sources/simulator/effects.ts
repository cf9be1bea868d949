/**
 * The interface between scenarios and the model. A scenario is a pure function from onset, severity, duration and
 * device to {@link Effects}: plain data that say which values change, where, and when. The model derives the
 * consequences: longer steps, waiting GPUs, falling power, counters.
 *
 * Times are seconds since the epoch of the simulation ({@link secondsOf} in `time.ts`). GPUs and NICs are identified by
 * their index in the node class.
 */
export interface Effects {
  readonly spans: readonly EffectSpan[]
  /** One-time events. Their counts remain after the end of the scenario. */
  readonly events?: readonly EffectEvent[]
}

/**
 * Changes from `fromS` up to, not including, `toS`. Where spans overlap, factors are multiplied, rates and waits are
 * added, and of shares and limits the worst counts.
 */
export interface EffectSpan {
  readonly fromS: number
  readonly toS: number
  readonly job?: JobEffect
  /** By index of the GPU; `all` is every GPU. */
  readonly gpus?: Readonly<Partial<Record<number | 'all', GpuEffect>>>
  /** By index of the NIC; `all` is every training NIC, not the one for storage. */
  readonly nics?: Readonly<Partial<Record<number | 'all', NicEffect>>>
}

/**
 * Activity of the job. `running`: steps or requests. `stuck`: a collective hangs, and every GPU waits in a kernel.
 * `checkpoint`: GPUs wait while memory is copied to the host. `idle`: there is no process.
 */
export type JobState = 'running' | 'checkpoint' | 'stuck' | 'idle'

/** Changes to the job as a whole. */
export interface JobEffect {
  /** Default: `running`. If spans disagree, the later state in the list of {@link JobState} wins. */
  readonly state?: JobState
  /** Additional wait for data at the start of each step. Unit: seconds. */
  readonly dataWaitS?: number
  /** Additional exposed communication in each step, besides the effect of slow rails. Unit: seconds. */
  readonly exposedS?: number
  /** Copies from each GPU to host memory. Unit: bytes per second. */
  readonly deviceToHostBytesPerS?: number
  /** Data sent by the storage NIC. Unit: bytes per second. */
  readonly storageBytesPerS?: number
}

/** Changes to one GPU. */
export interface GpuEffect {
  /** Factor for compute time; the other GPUs wait. */
  readonly computeFactor?: number
  /** Power limit in force. Unit: watts. */
  readonly powerLimitWatts?: number
  /** The power brake is active: clocks halve immediately. */
  readonly powerBrake?: true
  /** Increase of the inlet temperature. Unit: degrees Celsius. */
  readonly inletCelsius?: number
  /** Factor for the GPU's own heating, for worse cooling. */
  readonly coolingFactor?: number
  /** `lost`: the GPU fell off the bus, and all its series end. `idle`: its process ended. */
  readonly state?: 'idle' | 'lost'
  /** Corrected memory errors per minute. */
  readonly correctedErrorsPerMinute?: number
  /** A row waits for a reset. */
  readonly rowRemapPending?: true
  /** A row could not be replaced. */
  readonly rowRemapFailure?: true
  /** Recovery action that the driver requests; see `get_gpu_recovery_action` of `nvml_gpu`. */
  readonly recoveryAction?: number
  /** Reduced PCIe generation and lanes of the link. */
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
  /** PCIe errors, in bursts; replays count with `BadTLP` and `Timeout`. */
  readonly aer?: readonly AerRate[]
  /**
   * MIG profiles into which the GPU is split, such as `['3g.40gb', '3g.40gb']`; each with its share of load, 0 to 1.
   */
  readonly mig?: readonly { readonly profile: string; readonly load: number }[]
  /** Number of processes that take turns on the GPU: utilisation rises to 100 %, the work done does not. */
  readonly timeSlices?: number
}

/** Changes to one NIC, its port or its link. */
export interface NicEffect {
  /** Share of packets lost on the path without any report. Range: 0 to 0.1. */
  readonly lossShare?: number
  /** Limit for sent and for received bursts. Unit: bytes per second. */
  readonly burstBytesPerS?: number
  /** Share of time in which others pause the NIC (it is a victim). Range: 0 to 0.95. */
  readonly rxPausedShare?: number
  /** Share of time in which the NIC pauses others (it is the source). Range: 0 to 1. */
  readonly txPausedShare?: number
  /** Pause storms that reached the warning and the error threshold. Unit: events per second. */
  readonly stormWarningsPerS?: number
  readonly stormErrorsPerS?: number
  /** The job sends with priority 0, which has no flow control, and receives with the priority of RDMA as before. */
  readonly isUnguarded?: true
  /** Packets dropped for lack of a receive buffer. Unit: packets per second. */
  readonly discardsPerS?: number
  /** Share of received packets with a congestion mark, in bursts. Range: 0 to 1. */
  readonly markedShare?: number
  /** Share of sent packets whose mark returns as a notification that slows the NIC down. Range: 0 to 1. */
  readonly throttledShare?: number
  /** Bit error rate before correction. */
  readonly bitErrorRate?: number
  /** Lane with nearly all bit errors. */
  readonly worstLane?: number
  /** Errors that correction leaves. Unit: errors per second. */
  readonly effectiveErrorsPerS?: number
  /** Change of received optical power. Unit: dB. */
  readonly rxPowerDb?: number
  /** Factor for the laser's bias current. */
  readonly biasFactor?: number
  /** The link is down, and the job waits. Each span that starts with it counts one link-down event. */
  readonly link?: 'down'
  /** Speed of the link as a share of its normal speed. Range: above 0, to 1. */
  readonly speedShare?: number
  /** Reduced PCIe generation and lanes of its link. */
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
  /** PCIe errors, in bursts. */
  readonly aer?: readonly AerRate[]
  /**
   * Share of reads or writes to host memory that wait for credits, besides the effect of a slow link. Range: 0 to 1.
   */
  readonly stalledShare?: number
  /**
   * Additional traffic of other senders on the job's priority: the port then receives at line rate while the job
   * receives. Unit: bytes per second.
   */
  readonly rxOtherBytesPerS?: number
  /** Traffic of another tenant through the port, on priority 0. Unit: bytes per second. */
  readonly neighbourBytesPerS?: number
  /** Factor for misses of the context cache. */
  readonly cacheMissFactor?: number
}

/**
 * PCIe errors of one name, as AER spells it (`BadTLP`, `Timeout`, `CmpltTO`…). They come in bursts; the rate is the
 * mean.
 */
export interface AerRate {
  readonly severity: 'correctable' | 'nonfatal' | 'fatal'
  readonly error: string
  readonly perS: number
}

/** A one-time event. */
export type EffectEvent =
  | { readonly atS: number; readonly gpu: number; readonly kind: 'xid'; readonly xid: number }
  | { readonly atS: number; readonly gpu: number; readonly kind: GpuEventKind; readonly count?: number }
  | { readonly atS: number; readonly nic: number; readonly kind: NicEventKind; readonly count?: number }

/** One-time events of a GPU. Default count: 1. */
export type GpuEventKind = 'ecc_corrected' | 'ecc_uncorrected' | 'row_remap_corrected' | 'row_remap_uncorrected'

/** One-time events of a NIC. Default count: 1. */
export type NicEventKind = 'ack_timeout' | 'retries_exceeded' | 'link_recovery' | 'rnr_retry'
