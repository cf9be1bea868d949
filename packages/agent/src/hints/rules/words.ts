import type { HintDevice } from '../device.ts'

/** No-break space: a number and its unit stay on one line. */
const GAP = '\u00a0'
/** Stands for an unknown value. */
const ABSENT = '–'
const STEPS = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/**
 * Title of a device in sentences, as on tiles: the rail rather than the name. Ports that share a rail, and second
 * ports, have their name and port number.
 */
export function hintDeviceTitle({
  id,
  kind,
  name,
  rail,
  pairs,
}: Pick<HintDevice, 'id' | 'kind' | 'name' | 'rail' | 'pairs'>) {
  if (kind !== 'nic') return name
  const port = /-(\d+)$/.exec(id)?.[1] ?? '1'
  const numbered = `${name.replace(/ port \d+$/, '')}/${port}`
  if (pairs.some((pair) => /^(sim-)?nic-/.test(pair))) return numbered
  if (rail !== null) return `NIC ${rail}`
  return port === '1' ? name : numbered
}

/**
 * A number with at most three significant digits, plus `more`, and an SI prefix: `2.4 k`, `13.9 G`. The unit follows if
 * there is one.
 */
export function amountWords(value: number, unit = '', more = 0): string {
  if (!Number.isFinite(value)) return ABSENT
  const size = Math.abs(value)
  const [factor, prefix] = STEPS.find(([step]) => size >= step * 0.9995) ?? [1, '']
  const text = digits(value / factor, more)
  return prefix === '' && unit === '' ? text : `${text}${GAP}${prefix}${unit}`
}

/** A share in per cent with one decimal, plus `more`: `31.2 %`. */
export function percent(share: number, more = 0): string {
  return Number.isFinite(share) ? `${(share * 100).toFixed(1 + more)}${GAP}%` : ABSENT
}

/** A small number as a power of ten: `3.1 × 10⁻⁶`. */
export function power(value: number, more = 0): string {
  if (!(value > 0)) return value === 0 ? '0' : ABSENT
  const [mantissa, exponent] = value.toExponential(1 + more).split('e')
  return `${mantissa}${GAP}×${GAP}10${superscript(Number(exponent))}`
}

/** A duration: `2 min 5 s`, `4.3 s`. */
export function duration(milliseconds: number, more = 0): string {
  const seconds = milliseconds / 1000
  if (seconds < 59.95) return `${digits(seconds, more)}${GAP}s`
  const whole = Number(seconds.toFixed(more))
  const minutes = Math.floor(whole / 60)
  const rest = Number((whole - minutes * 60).toFixed(more))
  return rest === 0 ? `${minutes}${GAP}min` : `${minutes}${GAP}min ${rest}${GAP}s`
}

/** The value of the siblings as part of a sentence; empty if unknown. */
export function besides(usual: number, write: (usual: number) => string): string {
  return Number.isNaN(usual) ? '' : `, its siblings ${write(usual)}`
}

function digits(value: number, more: number): string {
  const size = Math.abs(value)
  const places = (size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2) + more
  const text = value.toFixed(places)
  return (places > 0 ? text.replace(/\.?0+$/, '') : text).replace('-', '−')
}

function superscript(exponent: number): string {
  const DIGITS = '⁰¹²³⁴⁵⁶⁷⁸⁹'
  return [...String(exponent)].map((c) => (c === '-' ? '⁻' : (DIGITS[Number(c)] ?? ''))).join('')
}
