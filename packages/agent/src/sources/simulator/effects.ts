/**
 * The interface through which scenarios act. A scenario is a pure function from onset, severity, duration and device to
 * {@link Effects}: plain data that say what is different, where, and from when to when. What follows from it (longer
 * steps, waiting GPUs, falling power, counters) the model works out.
 *
 * Times are seconds since the epoch of the simulation ({@link secondsOf} in `time.ts`). GPUs and NICs are named by
 * their index in the node class.
 */
export interface Effects {
  readonly spans: readonly EffectSpan[]
  /** Things that happen once. Their counts stay when the scenario has ended. */
  readonly events?: readonly EffectEvent[]
}

/**
 * What is different from `fromS` up to, not including, `toS`. Where spans overlap, factors are multiplied, rates and
 * waits added, shares and limits the worst of all.
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
 * What the job does. `running`: steps or requests. `stuck`: a collective hangs, every GPU waits in a kernel.
 * `checkpoint`: GPUs stand still while memory is copied to the host. `idle`: no process is there.
 */
export type JobState = 'running' | 'checkpoint' | 'stuck' | 'idle'

/** Changes to the job as a whole. */
export interface JobEffect {
  /** Default: `running`. Where spans disagree, the later in the list of {@link JobState} wins. */
  readonly state?: JobState
  /** Longer wait for data at the start of each step. Unit: seconds. */
  readonly dataWaitS?: number
  /** Longer exposed communication in each step, beside what slow rails cause by themselves. Unit: seconds. */
  readonly exposedS?: number
  /** Copies from each GPU to host memory. Unit: bytes a second. */
  readonly deviceToHostBytesPerS?: number
  /** What the storage NIC sends. Unit: bytes a second. */
  readonly storageBytesPerS?: number
}

/** Changes to one GPU. */
export interface GpuEffect {
  /** Compute takes this many times as long; the others wait. */
  readonly computeFactor?: number
  /** Power limit in force. Unit: watts. */
  readonly powerLimitWatts?: number
  /** The power brake is pulled: clocks halve at once. */
  readonly powerBrake?: true
  /** Warmer air. Unit: degrees Celsius, added. */
  readonly inletCelsius?: number
  /** Worse cooling: the GPU's own heating is this many times as large. */
  readonly coolingFactor?: number
  /** `lost`: fell off the bus, all its series end. `idle`: its process is gone. */
  readonly state?: 'idle' | 'lost'
  /** Corrected memory errors a minute. */
  readonly correctedErrorsPerMinute?: number
  /** A row waits for a reset. */
  readonly rowRemapPending?: true
  /** A row could not be replaced. */
  readonly rowRemapFailure?: true
  /** What the driver asks for; see `recovery_action` of `nvml_gpu`. */
  readonly recoveryAction?: number
  /** PCIe generation and lanes to which the link has fallen. */
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
  /** PCIe errors, in bursts; replays count with `BadTLP` and `Timeout`. */
  readonly aer?: readonly AerRate[]
  /**
   * MIG profiles into which the GPU is split, such as `['3g.40gb', '3g.40gb']`; each with its share of load, 0 to 1.
   */
  readonly mig?: readonly { readonly profile: string; readonly load: number }[]
  /** Two or more processes take turns on the GPU: use goes up to 100 %, work does not. */
  readonly timeSlices?: number
}

/** Changes to one NIC, its port or its link. */
export interface NicEffect {
  /** Share of packets lost on the path, without a sign of it. Range: 0 to 0.1. */
  readonly lossShare?: number
  /** Ceiling of what it sends, and of what it receives, in a burst. Unit: bytes a second. */
  readonly burstBytesPerS?: number
  /** Share of time in which others tell it to stop (it is a victim). Range: 0 to 0.95. */
  readonly rxPausedShare?: number
  /** Share of time in which it tells others to stop (it is the source). Range: 0 to 1. */
  readonly txPausedShare?: number
  /** Pause storms that reached the warning, and the error threshold. Unit: events a second. */
  readonly stormWarningsPerS?: number
  readonly stormErrorsPerS?: number
  /** Packets dropped for want of a receive buffer. Unit: packets a second. */
  readonly discardsPerS?: number
  /** Share of received packets that bear a congestion mark, in bursts. Range: 0 to 1. */
  readonly markedShare?: number
  /** Share of sent packets whose mark comes back as a notification that slows it down. Range: 0 to 1. */
  readonly throttledShare?: number
  /** Bit error rate before correction. */
  readonly bitErrorRate?: number
  /** Lane on which nearly all bit errors are. */
  readonly worstLane?: number
  /** Errors left after correction. Unit: errors a second. */
  readonly effectiveErrorsPerS?: number
  /** Change of received optical power. Unit: dB. */
  readonly rxPowerDb?: number
  /** Change of the laser's bias current, a factor. */
  readonly biasFactor?: number
  /** The link is down; the job waits. Each span that begins with it counts one link-down event. */
  readonly link?: 'down'
  /** Share of its speed at which the link runs. Range: above 0, to 1. */
  readonly speedShare?: number
  /** PCIe generation and lanes to which its link has fallen. */
  readonly pcieGeneration?: number
  readonly pcieWidth?: number
  /** PCIe errors, in bursts. */
  readonly aer?: readonly AerRate[]
  /** Share of reads or writes to host memory that stall for credits, beside what a slow link causes. Range: 0 to 1. */
  readonly stalledShare?: number
  /**
   * What others send to it as well, on the priority of the job: the port receives at line rate while the job does.
   * Unit: bytes a second.
   */
  readonly rxOtherBytesPerS?: number
  /** What another tenant sends through the port, on priority 0. Unit: bytes a second. */
  readonly neighbourBytesPerS?: number
  /** Misses of the context cache, a factor. */
  readonly cacheMissFactor?: number
}

/**
 * PCIe errors of one name, as AER spells it (`BadTLP`, `Timeout`, `CmpltTO`…). They come in bursts; the rate is that of
 * the mean.
 */
export interface AerRate {
  readonly severity: 'correctable' | 'nonfatal' | 'fatal'
  readonly error: string
  readonly perS: number
}

/** Something that happens once. */
export type EffectEvent =
  | { readonly atS: number; readonly gpu: number; readonly kind: 'xid'; readonly xid: number }
  | { readonly atS: number; readonly gpu: number; readonly kind: GpuEventKind; readonly count?: number }
  | { readonly atS: number; readonly nic: number; readonly kind: NicEventKind; readonly count?: number }

/** What a GPU counts once. Default count: 1. */
export type GpuEventKind = 'ecc_corrected' | 'ecc_uncorrected' | 'row_remap_corrected' | 'row_remap_uncorrected'

/** What a NIC counts once. Default count: 1. */
export type NicEventKind = 'ack_timeout' | 'retries_exceeded' | 'link_recovery' | 'rnr_retry'
