import { NO_BREAK_SPACE } from '../../format/number.ts'
import { formatClock, formatDuration, type TimeZoneChoice } from '../../format/time.ts'

const THIN_SPACE = '\u202f'
const DIGITS_MAX = 6

/** Decimal digits of the seconds of a time with this resolution. Unit: milliseconds. */
export function digitsFor(resolutionMs: number): number {
  if (!(resolutionMs > 0)) return DIGITS_MAX
  return Math.min(DIGITS_MAX, Math.max(0, Math.ceil(-Math.log10(resolutionMs / 1_000) - 1e-9)))
}

/** Groups the decimals by threes: `103 8`. */
function grouped(digits: string): string {
  return digits.replace(/(\d{3})(?=\d)/g, `$1${THIN_SPACE}`)
}

/** A time of day with no more digits than its resolution: `13:52:41.221 8`. */
export function formatMoment(timeMs: number, zone: TimeZoneChoice, resolutionMs: number): string {
  const digits = digitsFor(resolutionMs)
  const unitUs = 10 ** (6 - digits)
  const secondMs = Math.floor(timeMs / 1_000) * 1_000
  const us = Math.round(((timeMs - secondMs) * 1_000) / unitUs) * unitUs
  const clock = formatClock(secondMs + (us >= 1e6 ? 1_000 : 0), zone)
  if (digits === 0) return clock
  return `${clock}.${grouped(
    String(us % 1e6)
      .padStart(6, '0')
      .slice(0, digits),
  )}`
}

/**
 * A signed offset from the start of an event: `+1.103 8 s`, `−6.4 ms`. Its unit fits the offset, or `scaleMs` if
 * several offsets share a unit.
 */
export function formatAfter(offsetMs: number, resolutionMs: number, scaleMs = Math.abs(offsetMs)): string {
  const absolute = Math.abs(offsetMs)
  const [unit, unitMs] = scaleMs >= 1_000 ? ['s', 1_000] : scaleMs >= 1 || resolutionMs >= 1 ? ['ms', 1] : ['µs', 1e-3]
  const digits = Math.min(DIGITS_MAX, Math.max(0, Math.ceil(-Math.log10(Math.max(resolutionMs, 1e-3) / unitMs) - 1e-9)))
  const [whole = '0', fraction] = (absolute / unitMs).toFixed(digits).split('.')
  const number = fraction ? `${whole}.${grouped(fraction)}` : whole
  const isNothing = Number(`${whole}.${fraction ?? 0}`) === 0
  return `${isNothing ? '' : offsetMs < 0 ? '−' : '+'}${number}${NO_BREAK_SPACE}${unit}`
}

/** An offset from the start of an event with its error: `−6.4 ms ± 0.1 ms`. */
export function formatOffset(offsetMs: number, uncertainMs: number): string {
  return `${formatAfter(offsetMs, uncertainMs)}${NO_BREAK_SPACE}±${NO_BREAK_SPACE}${formatDuration(uncertainMs)}`
}
