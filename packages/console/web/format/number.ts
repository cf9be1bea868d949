import type { DisplayQuantity } from './quantity.ts'

/** Stands between a number and its unit. */
export const NO_BREAK_SPACE = '\u00a0'
/** Stands between thousands. Narrow, and lines do not break at it. */
const THIN_SPACE = '\u202f'
/** What is shown where there is no value. */
export const ABSENT = '–'

/** Prefixes of a unit from the smallest to the largest; the empty one is the unit itself. */
const STEPS = {
  time: ['n', 'µ', 'm', ''],
  si: ['', 'k', 'M', 'G', 'T', 'P', 'E'],
  iec: ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
} as const satisfies Record<string, readonly string[]>

/** A quantity at one scale: `label` is the unit as it is written, `divisor` turns the raw value into it. */
export interface DisplayUnit {
  readonly quantity: DisplayQuantity
  readonly label: string
  readonly divisor: number
}

/** With larger values the top of an axis would have five digits, for which it has no room. */
const KEPT_MOST = 7.5

/**
 * Chooses the scale for the largest of some raw values.
 *
 * A `previous` scale is kept until the largest value is ten times too small or {@link KEPT_MOST} times too large, and
 * for zero, so that a live column does not flip between units.
 */
export function pickUnit(quantity: DisplayQuantity, largestRaw: number, previous?: DisplayUnit): DisplayUnit {
  if (quantity.prefixes === 'none' || quantity.prefixes === 'powers')
    return { quantity, label: quantity.base, divisor: 1 / quantity.factor }
  const steps = STEPS[quantity.prefixes]
  const plain = steps.indexOf('')
  const radix = quantity.prefixes === 'iec' ? 1024 : 1000
  const largest = Math.abs(largestRaw * quantity.factor)
  // A column that is zero for a while keeps its unit.
  if (previous?.quantity === quantity && largest === 0) return previous
  if (previous && previous.quantity === quantity && Number.isFinite(largest)) {
    const shown = Math.abs(largestRaw / previous.divisor)
    if (shown >= 0.1 && shown < radix * KEPT_MOST) return previous
  }
  // Zero has the plain unit.
  let step = largest > 0 ? 0 : plain
  while (step < steps.length - 1 && largest >= radix ** (step + 1 - plain)) step++
  return { quantity, label: `${steps[step]}${quantity.base}`, divisor: radix ** (step - plain) / quantity.factor }
}

/** Digits after the point for a number that is already scaled. */
function decimalsFor(absolute: number, scaled: boolean): number {
  if (absolute >= 99.95) return 0
  if (absolute >= 9.995) return 1
  return scaled || absolute < 1 ? 2 : 1
}

/** Writes a raw value in a unit, without the unit's name. NaN is the absent sign; 0 is `0`; true minus. */
export function formatIn(unit: DisplayUnit, raw: number): string {
  if (Number.isNaN(raw)) return ABSENT
  if (!Number.isFinite(raw)) return raw > 0 ? '∞' : '−∞'
  const { words, prefixes } = unit.quantity
  if (words) return words[raw === 0 ? 0 : 1]
  if (prefixes === 'powers') return formatPower(unit, raw)
  const value = raw / unit.divisor
  const absolute = Math.abs(value)
  const { resolution, decimals } = unit.quantity
  if (absolute === 0) return decimals ? (0).toFixed(decimals) : '0'
  const isUnscaled = unit.divisor === 1 / unit.quantity.factor
  const least = isUnscaled ? resolution : 0.01
  if (absolute < least) return `< ${least}`
  const isWhole = isUnscaled && decimals === undefined && Number.isInteger(value)
  const digits = isWhole ? 0 : (decimals ?? decimalsFor(absolute, !isUnscaled))
  return `${value < 0 ? '−' : ''}${groupThousands(absolute.toFixed(digits))}`
}

/** Writes a number with its power of ten, as link tools do: `4.4e−8`. */
function formatPower({ quantity: { resolution } }: DisplayUnit, value: number): string {
  if (value === 0) return '0'
  if (value < resolution) return `< ${powerOf(resolution)}`
  return value.toExponential(1).replace('-', '−').replace('+', '')
}

function powerOf(value: number): string {
  return `1e${Math.round(Math.log10(value))}`.replace('-', '−')
}

/** Writes a raw value with a unit chosen for it alone: `254 Gb/s`. */
export function formatQuantity(quantity: DisplayQuantity, raw: number): string {
  const unit = pickUnit(quantity, raw)
  return joinUnit(formatIn(unit, raw), unit.label)
}

/** Joins a number and its unit so that they stay on one line. A bare rate keeps its stroke close: `12/s`. */
export function joinUnit(number: string, unit: string): string {
  if (unit === '' || number === ABSENT) return number
  return unit.startsWith('/') ? `${number}${unit}` : `${number}${NO_BREAK_SPACE}${unit}`
}

/** Writes an axis label with as few digits as needed. */
export function formatAxis(unit: DisplayUnit, raw: number): string {
  const value = raw / unit.divisor
  if (value === 0) return '0'
  if (unit.quantity.prefixes === 'powers') return powerOf(value)
  return groupThousands(String(Number(value.toPrecision(3)))).replace('-', '−')
}

/** Groups the digits before the point by threes, from 10 000 up: `914 206 311 480`. Works on any number of digits. */
export function groupThousands(digits: string): string {
  const [whole = '', fraction] = digits.split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const bare = sign ? whole.slice(1) : whole
  if (bare.length < 5) return digits
  const grouped = bare.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE)
  return `${sign}${grouped}${fraction === undefined ? '' : `.${fraction}`}`
}

/** A number of things: `1 interface`, `8 interfaces`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${groupThousands(String(count))}${NO_BREAK_SPACE}${count === 1 ? one : many}`
}

/** Every one of some things: `The GPU`, `Both GPUs`, `All 8 GPUs`. */
export function allOf(count: number, one: string, many = `${one}s`): string {
  if (count === 1) return `The ${one}`
  return count === 2 ? `Both ${many}` : `All ${groupThousands(String(count))} ${many}`
}
