/** How the value of a data ID moves. */
export interface Wave {
  readonly id: bigint
  readonly start: bigint
  /** Per microsecond. */
  readonly step: bigint
  /** Further ones per microsecond of a burst; of a gauge: how much higher it is in a burst. */
  readonly extra: bigint
  /** Unsynced counters cannot start in sync; unsupported ones cannot be sampled at all. */
  readonly kind: 'counter' | 'gauge' | 'unsynced' | 'unsupported'
}

/** When a device has bursts: the last `burstUs` of each `everyUs`. */
export interface Bursts {
  readonly everyUs: bigint
  readonly burstUs: bigint
}

/** The bursts of a device that is not given others. */
const BURSTS: Bursts = { everyUs: 1000n, burstUs: 100n }

const UNSYNCED_GROUPS = [0x1020n, 0x1140n]
const GAUGES = [0x1160_000dn, 0x1160_000en]

/** The wave of an ID that the scenario says nothing about. */
export function waveOf(id: bigint): Wave {
  const step = (id >> 48n) + ((id >> 32n) & 0xffffn) + (id & 0xffff_ffffn)
  const counter = UNSYNCED_GROUPS.includes(id >> 48n) ? 'unsynced' : 'counter'
  return { id, start: 0n, step, extra: 8n * step, kind: GAUGES.includes(id >> 32n) ? 'gauge' : counter }
}

/**
 * The value of a sample, as the double computes it: 64 bits.
 *
 * @param elapsedNs When the sample was taken: nanoseconds of the device's clock since the anchor of the double.
 */
export function valueAt({ kind, start, step, extra }: Wave, elapsedNs: bigint, bursts: Bursts = BURSTS): bigint {
  const us = elapsedNs / 1000n
  const { everyUs, burstUs } = bursts
  const part = everyUs === 0n ? 0n : us % everyUs
  const inBurst = everyUs !== 0n && part >= everyUs - burstUs
  if (kind === 'gauge') return BigInt.asUintN(64, start + (inBurst ? extra : 0n))
  const whole = everyUs === 0n ? 0n : (us / everyUs) * burstUs
  const burst = whole + (inBurst ? part - (everyUs - burstUs) : 0n)
  return BigInt.asUintN(64, start + step * us + extra * burst)
}
