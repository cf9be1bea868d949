import type { FieldRole, QueryFunction } from '../api/types.ts'

/** How values of one kind are shown: `factor` turns the raw value into the base unit, `prefixes` says how it is scaled. */
export interface Quantity {
  readonly base: string
  readonly factor: number
  /** `powers` writes powers of ten. */
  readonly prefixes: 'si' | 'iec' | 'none' | 'powers'
  /** Smallest value that is shown as a number; below it (and above 0) stands `< resolution`. */
  readonly resolution: number
  /** Digits after the point where the number is not scaled; undefined: three significant digits. */
  readonly decimals?: number
  /** Written instead of 0 and of anything else. */
  readonly words?: readonly [off: string, on: string]
  /** What turns the raw value into a share of time, where it is one: sums over a window are then how long it was so. */
  readonly timeShare?: number
}

/** Bits a second, from bytes a second. */
export const BITS_PER_SECOND: Quantity = { base: 'b/s', factor: 8, prefixes: 'si', resolution: 0.1 }
/** Bytes a second. */
export const BYTES_PER_SECOND: Quantity = { base: 'B/s', factor: 1, prefixes: 'si', resolution: 0.1 }
/** Bytes of memory or of a file. */
export const BYTES: Quantity = { base: 'B', factor: 1, prefixes: 'iec', resolution: 1 }
/** Events a second. */
export const PER_SECOND: Quantity = { base: '/s', factor: 1, prefixes: 'si', resolution: 0.01 }
/** Percent, from a ratio. */
export const PERCENT: Quantity = { base: '%', factor: 100, prefixes: 'none', resolution: 0.1, decimals: 1 }
/** A number without a unit. */
export const COUNT: Quantity = { base: '', factor: 1, prefixes: 'si', resolution: 0.01 }
/** Seconds. */
export const SECONDS: Quantity = { base: 's', factor: 1, prefixes: 'none', resolution: 0.001 }
/** Watts. */
export const WATTS: Quantity = { base: 'W', factor: 1, prefixes: 'si', resolution: 1 }
/** Degrees Celsius. */
export const CELSIUS: Quantity = { base: '°C', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
/** Clocks, from megahertz, as vendors write them. */
export const MEGAHERTZ: Quantity = { base: 'MHz', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
/** Memory, from mebibytes. */
export const MEBIBYTES: Quantity = { ...BYTES, factor: 1_048_576 }
/** Percent, from percent. */
export const PERCENT_WHOLE: Quantity = { ...PERCENT, factor: 1 }
/** A share of time, from nanoseconds a second. */
export const NANOSECONDS_SHARE: Quantity = { ...PERCENT, factor: 1e-7, timeShare: 1e-9 }
/** A share of time as network people write pauses, from seconds a second. */
export const PAUSE_SHARE: Quantity = { base: 'ms/s', factor: 1_000, prefixes: 'none', resolution: 0.01, timeShare: 1 }
/** Whether something is up, from 0 or 1. */
export const UP_OR_DOWN: Quantity = { base: '', factor: 1, prefixes: 'none', resolution: 0, words: ['down', 'up'] }
/** Wrong bits among all, which spans many powers of ten. */
export const BIT_ERROR_RATE: Quantity = { base: '', factor: 1, prefixes: 'powers', resolution: 1e-18 }

const NETWORK_METRIC = /^(netdev|ethtool|rdma|doca_(diag_port|diag_priority|phy))_/
const SPEED_METRIC = /(speed|rate|bandwidth)_bytes$/
const COUNTED = new Set(['packets', 'events', 'errors', 'operations', ''])

/** How the values of a metric are shown after a function was applied. */
export function quantityOf(field: {
  readonly metric: string
  readonly unit: string
  readonly role: FieldRole
  readonly function: QueryFunction
}): Quantity {
  const { metric, unit } = field
  const isNetwork = NETWORK_METRIC.test(metric)
  if (field.function === 'rate') {
    if (unit === 'bytes') return isNetwork ? BITS_PER_SECOND : BYTES_PER_SECOND
    // Seconds a second is a share of time.
    if (unit === 'seconds') return PERCENT
    if (unit === 'nanoseconds') return NANOSECONDS_SHARE
    if (unit === 'millijoules') return { ...WATTS, factor: 0.001 }
    return COUNTED.has(unit) ? PER_SECOND : { ...PER_SECOND, base: ` ${unit}/s` }
  }
  // Speeds have the unit of what passes in a second.
  if (unit === 'bytes' && SPEED_METRIC.test(metric)) return isNetwork ? BITS_PER_SECOND : BYTES_PER_SECOND
  if (unit === 'bytes') return BYTES
  if (unit === 'bytes/s') return BYTES_PER_SECOND
  if (unit === 'MiB') return MEBIBYTES
  if (unit === 'MHz') return MEGAHERTZ
  if (unit === 'hertz') return { ...COUNT, base: 'Hz' }
  if (unit === 'seconds') return SECONDS
  if (unit === 'ratio') return PERCENT
  if (unit === 'percent') return PERCENT_WHOLE
  if (unit === 'celsius') return CELSIUS
  if (unit === 'watts') return WATTS
  return COUNTED.has(unit) ? COUNT : { ...COUNT, base: unit }
}
