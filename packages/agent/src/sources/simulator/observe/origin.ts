/**
 * Difference between the state of a device and its reported values: values come in steps, late, as means of a window,
 * and rounded. Times are those of the simulation, in seconds.
 */
export interface ReadingOrigin {
  /** Time between two changes of the value; 0 if each read returns a new value. Unit: seconds. */
  readonly updateS: number
  /** Age of a value when it changes. Unit: seconds. */
  readonly lagS: number
  /** Time over which the value is a mean; 0 for a momentary value. Unit: seconds. */
  readonly windowS: number
  /** Resolution of the value; 0 means no rounding. */
  readonly resolution: number
}

/** All origins. The README gives the sources of the figures. */
export const ORIGINS = {
  /** Utilisation of NVML: the previous window. */
  utilisation: { updateS: 0.5, lagS: 0, windowS: 0.5, resolution: 1 },
  /** Power of NVML: mean of a second. */
  power: { updateS: 0.1, lagS: 0.02, windowS: 1, resolution: 0.001 },
  /** The sensor itself, which measures a quarter of the time. */
  powerInstant: { updateS: 0.1, lagS: 0.01, windowS: 0.025, resolution: 0.001 },
  energy: { updateS: 0.05, lagS: 0.01, windowS: 0, resolution: 1 },
  temperature: { updateS: 1, lagS: 0, windowS: 0, resolution: 1 },
  /** Clocks, reasons, memory: read directly. */
  live: { updateS: 0, lagS: 0, windowS: 0, resolution: 0 },
  /** Profiling: mean between two reads, at least 100 ms apart. */
  profile: { updateS: 0.1, lagS: 0, windowS: 0.1, resolution: 0 },
  /** Hardware counters of RDMA: the driver repeats a value for its lifespan. */
  hardwareCounters: { updateS: 0.01, lagS: 0, windowS: 0, resolution: 1 },
  /** Counters of interfaces: the driver refreshes them in the background. */
  netdev: { updateS: 0.9, lagS: 0, windowS: 0, resolution: 1 },
  /** Pressure of the host: the kernel updates its sums every two seconds. */
  pressure: { updateS: 2, lagS: 0, windowS: 0, resolution: 1e-6 },
  /** PCIe stalls: share of the last full second. */
  stalls: { updateS: 1, lagS: 0, windowS: 1, resolution: 0.01 },
} as const satisfies Readonly<Record<string, ReadingOrigin>>

/**
 * The moment that a read at `t` shows. `phaseS` shifts the steps, so that devices do not change together. Never later
 * than `t`, never earlier than for an earlier read.
 */
export function observedAt({ updateS, lagS }: ReadingOrigin, t: number, phaseS = 0): number {
  if (updateS === 0) return Math.max(0, t - lagS)
  const steps = Math.floor((t - lagS - phaseS) / updateS)
  return Math.max(0, phaseS + steps * updateS)
}

/** Best time resolution of an origin: its period or its window. Unit: seconds. */
export function apartS({ updateS, windowS }: ReadingOrigin): number {
  return Math.max(updateS, windowS)
}

/** A value rounded to the resolution of its origin. */
export function rounded({ resolution }: ReadingOrigin, value: number): number {
  if (resolution === 0) return value
  const steps = Math.round(value / resolution)
  // A division by the inverse is exact: a product with 0.001 would turn 336.78 into 336.78000000000003.
  return resolution < 1 ? steps / Math.round(1 / resolution) : steps * resolution
}

/** A counter of a few bits that stays at its largest value. */
export function stuckAt(value: number, bits: number): number {
  return Math.min(value, 2 ** bits - 1)
}
