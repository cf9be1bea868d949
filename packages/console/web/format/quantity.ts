import type { QueryFunction, ResultMeta } from '@sonde/sdk/api'

/**
 * How values of one kind are shown: `factor` turns the raw value into the base unit, `prefixes` says how it is scaled.
 */
export interface DisplayQuantity {
  readonly base: string
  readonly factor: number
  /** `time` goes down from seconds to nanoseconds; `powers` writes powers of ten. */
  readonly prefixes: 'si' | 'iec' | 'time' | 'none' | 'powers'
  /** Smallest value shown as a number. Positive values below it are shown as `< resolution`. */
  readonly resolution: number
  /** Digits after the point where the number is not scaled; undefined: three significant digits. */
  readonly decimals?: number
  /** Written instead of 0 and of anything else. */
  readonly words?: readonly [off: string, on: string]
  /** Factor from the raw value to a share of time, if it is a share. Sums over a window are then durations. */
  readonly timeShare?: number
}

/** Bits a second, from bytes a second. */
export const BITS_PER_SECOND: DisplayQuantity = { base: 'b/s', factor: 8, prefixes: 'si', resolution: 0.1 }
/** Bytes a second. */
export const BYTES_PER_SECOND: DisplayQuantity = { base: 'B/s', factor: 1, prefixes: 'si', resolution: 0.1 }
/** Bytes of memory or of a file. */
export const BYTES: DisplayQuantity = { base: 'B', factor: 1, prefixes: 'iec', resolution: 1 }
/** Events a second. */
export const PER_SECOND: DisplayQuantity = { base: '/s', factor: 1, prefixes: 'si', resolution: 0.01 }
/** Percent, from a ratio. */
export const PERCENT: DisplayQuantity = { base: '%', factor: 100, prefixes: 'none', resolution: 0.1, decimals: 1 }
/** A number without a unit. */
export const COUNT: DisplayQuantity = { base: '', factor: 1, prefixes: 'si', resolution: 0.01 }
/** Seconds. */
export const SECONDS: DisplayQuantity = { base: 's', factor: 1, prefixes: 'time', resolution: 1e-9 }
/** Watts. */
export const WATTS: DisplayQuantity = { base: 'W', factor: 1, prefixes: 'si', resolution: 1 }
/** Degrees Celsius. */
export const CELSIUS: DisplayQuantity = { base: '°C', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
/** Clocks, from megahertz, as vendors write them. */
export const MEGAHERTZ: DisplayQuantity = { base: 'MHz', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
/** Memory, from mebibytes. */
export const MEBIBYTES: DisplayQuantity = { ...BYTES, factor: 1_048_576 }
/** Percent, from percent. */
export const PERCENT_WHOLE: DisplayQuantity = { ...PERCENT, factor: 1 }
/** A share of time, from nanoseconds a second. */
export const NANOSECONDS_SHARE: DisplayQuantity = { ...PERCENT, factor: 1e-7, timeShare: 1e-9 }
/** A share of time as network people write pauses, from seconds a second. */
export const PAUSE_SHARE: DisplayQuantity = {
  base: 'ms/s',
  factor: 1_000,
  prefixes: 'none',
  resolution: 0.01,
  timeShare: 1,
}
/** Whether something is up, from 0 or 1. */
export const UP_OR_DOWN: DisplayQuantity = {
  base: '',
  factor: 1,
  prefixes: 'none',
  resolution: 0,
  words: ['down', 'up'],
}
/** Wrong bits among all, which spans many powers of ten. */
export const BIT_ERROR_RATIO: DisplayQuantity = { base: '', factor: 1, prefixes: 'powers', resolution: 1e-18 }

/** Optical power, from decibels over a milliwatt. */
export const DECIBEL_MILLIWATTS: DisplayQuantity = {
  base: 'dBm',
  factor: 1,
  prefixes: 'none',
  resolution: 0.01,
  decimals: 2,
}
/** Signal to noise, from decibels. */
export const DECIBELS: DisplayQuantity = { base: 'dB', factor: 1, prefixes: 'none', resolution: 0.01, decimals: 1 }

/** Transfers per second and lane of a PCIe link. */
export const TRANSFERS_PER_SECOND: DisplayQuantity = { base: 'T/s', factor: 1, prefixes: 'si', resolution: 0.1 }
/** Energy, from millijoules. */
const MILLIJOULES: DisplayQuantity = { base: 'J', factor: 0.001, prefixes: 'si', resolution: 0.001 }

/**
 * Limits a share of time to 100 %. A counter that updates late may gain more than a second in one step and less in
 * another.
 */
export function bounded({ timeShare }: DisplayQuantity, raw: number): number {
  return timeShare === undefined ? raw : Math.min(raw, 1 / timeShare)
}

/** The samples of a column, {@link bounded}; the column itself if its values have no limit. */
export function boundedColumn(quantity: DisplayQuantity, values: Float64Array): Float64Array {
  return quantity.timeShare === undefined ? values : values.map((raw) => bounded(quantity, raw))
}

const NETWORK_METRIC = /^(netdev|ethtool|rdma|doca_(diag_port|diag_priority|phy))_/
/** Shares of wrong bits span many powers of ten. */
const ERROR_RATIO_METRIC = /_error_ratio$/
const COUNTED = new Set(['packets', 'events', 'errors', 'operations', ''])

/** The properties of a query that decide how its values are shown. */
interface MetricQuestion {
  readonly metric: string
  readonly unit: string
  readonly role: ResultMeta['role']
  readonly function: QueryFunction
}

/** Quantities by unit, unless the name of the metric decides. */
const BY_UNIT: Readonly<Record<string, DisplayQuantity>> = {
  bytes: BYTES,
  bytes_per_second: BYTES_PER_SECOND,
  MiB: MEBIBYTES,
  'MiB/s': { ...BYTES_PER_SECOND, factor: 1_048_576 },
  MHz: MEGAHERTZ,
  hertz: { ...COUNT, base: 'Hz' },
  seconds: SECONDS,
  nanoseconds: { ...SECONDS, factor: 1e-9 },
  millijoules: MILLIJOULES,
  ratio: PERCENT,
  percent: PERCENT_WHOLE,
  celsius: CELSIUS,
  watts: WATTS,
  volts: { base: 'V', factor: 1, prefixes: 'none', resolution: 0.01, decimals: 2 },
  // Laser currents are a few milliamperes.
  amperes: { base: 'mA', factor: 1_000, prefixes: 'none', resolution: 0.01 },
  dbm: DECIBEL_MILLIWATTS,
  db: DECIBELS,
  transfers_per_second: TRANSFERS_PER_SECOND,
}

/** Units of rates. */
const BY_UNIT_A_SECOND: Readonly<Record<string, DisplayQuantity>> = {
  bytes: BYTES_PER_SECOND,
  // Seconds a second are a share of time.
  seconds: PERCENT,
  nanoseconds: NANOSECONDS_SHARE,
  millijoules: { ...WATTS, factor: 0.001 },
}

/** How the values of a metric are shown after a function was applied. Bins hold counts, whatever they count. */
export function quantityOf({ metric, unit, role, function: fn }: MetricQuestion): DisplayQuantity {
  const isRate = fn === 'rate'
  if (role === 'bucket') return isRate ? PER_SECOND : COUNT
  if (isRate ? unit === 'bytes' : unit === 'bytes_per_second')
    return NETWORK_METRIC.test(metric) ? BITS_PER_SECOND : BYTES_PER_SECOND
  if (ERROR_RATIO_METRIC.test(metric)) return BIT_ERROR_RATIO
  if (COUNTED.has(unit)) {
    return isRate ? PER_SECOND : COUNT
  }
  const words = unit.replaceAll('_', ' ')
  if (isRate) return BY_UNIT_A_SECOND[unit] ?? { ...PER_SECOND, base: ` ${words}/s` }
  return BY_UNIT[unit] ?? { ...COUNT, base: words }
}

/** How the edges of a histogram's bins are shown. */
export function edgeQuantity({ metric, unit }: Pick<MetricQuestion, 'metric' | 'unit'>): DisplayQuantity {
  return quantityOf({ metric, unit, role: 'value', function: 'last' })
}

/** The declared unit of a raw value. Counts have none, because their name states what they count. */
export function unitWords({ unit, role }: Pick<MetricQuestion, 'unit' | 'role'>): string {
  return role === 'bucket' ? '' : unit.replace(/_per_second$/, '/s')
}

/**
 * The unit of a sample after a function was applied, not scaled: `bytes/s` of a rate of bytes, `/s` of one of a count;
 * empty if it has none.
 */
export function sampleUnit({ unit, role, function: fn }: Omit<MetricQuestion, 'metric'>): string {
  if (fn === 'rate') return role === 'bucket' ? '/s' : `${unit}/s`
  return unitWords({ unit, role })
}
