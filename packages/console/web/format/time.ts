import { NO_BREAK_SPACE } from './number.ts'

/** The clock that times are written in. */
export type TimeZoneChoice = 'utc' | 'local'

const pad = (value: number, width = 2): string => String(value).padStart(width, '0')

/** Writes a time of day, 24 h. `digits`: none, seconds, or that many fraction digits (up to 3) after the seconds. */
export function formatClock(
  timeMs: number,
  zone: TimeZoneChoice,
  detail: 'minutes' | 'seconds' | 'milliseconds' = 'seconds',
): string {
  const date = zone === 'utc' ? new Date(timeMs) : new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000)
  const minutes = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`
  if (detail === 'minutes') return minutes
  const seconds = `${minutes}:${pad(date.getUTCSeconds())}`
  return detail === 'seconds' ? seconds : `${seconds}.${pad(date.getUTCMilliseconds(), 3)}`
}

/** Writes a day and a time of day. */
export function formatDateTime(
  timeMs: number,
  zone: TimeZoneChoice,
  detail: 'minutes' | 'seconds' | 'milliseconds' = 'seconds',
): string {
  const date = zone === 'utc' ? new Date(timeMs) : new Date(timeMs - new Date(timeMs).getTimezoneOffset() * 60_000)
  return `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())} ${formatClock(timeMs, zone, detail)}`
}

/** Writes a span from one time to another; the day of its end only if it is another one. */
export function formatSpanOfTime(fromMs: number, toMs: number, zone: TimeZoneChoice): string {
  const from = formatDateTime(fromMs, zone)
  const to = formatDateTime(toMs, zone)
  const isOneDay = from.slice(0, 10) === to.slice(0, 10)
  return `${from} – ${isOneDay ? to.slice(11) : to}`
}

/** The name of the zone; local time says its offset. */
export function zoneName(zone: TimeZoneChoice, atMs = Date.now()): string {
  if (zone === 'utc') return 'UTC'
  const minutes = -new Date(atMs).getTimezoneOffset()
  const absolute = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** Writes a duration with its two largest units: `2 min 5 s`, `1.84 s`, `880 ms`, `93 µs`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs)
  if (ms === 0) return `0${NO_BREAK_SPACE}s`
  if (ms < 1) return `${Math.round(ms * 1000)}${NO_BREAK_SPACE}µs`
  if (ms < 999.5) return `${ms < 9.995 ? Number(ms.toFixed(2)) : Math.round(ms)}${NO_BREAK_SPACE}ms`
  if (ms < 9_995) return `${Number((ms / 1000).toFixed(2))}${NO_BREAK_SPACE}s`
  const rounded = Math.round(ms / 1000) * 1000
  const at = UNITS.findIndex(([, size]) => rounded >= size)
  const [unit, size] = UNITS[at]!
  const whole = Math.floor(rounded / size)
  const next = UNITS[at + 1]
  const rest = next ? Math.floor((rounded - whole * size) / next[1]) : 0
  const head = `${whole}${NO_BREAK_SPACE}${unit}`
  return next && rest > 0 ? `${head}${NO_BREAK_SPACE}${rest}${NO_BREAK_SPACE}${next[0]}` : head
}

/** Writes an age in whole seconds or larger: `2 s`, `3 h 12 min`. */
export function formatAge(ageMs: number): string {
  return formatDuration(Math.round(Math.max(0, ageMs) / 1000) * 1000)
}

/** Writes an age with its largest unit alone, where room is short: `38 s`, `3 h`. */
export function formatRoughAge(ageMs: number): string {
  return formatAge(ageMs).split(NO_BREAK_SPACE).slice(0, 2).join(NO_BREAK_SPACE)
}

/** A length of time that grows, as a clock counts it: `0:09`, `1:20`, `1:02:05`. */
export function formatCount(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const head = hours > 0 ? `${hours}:${pad(minutes)}` : String(minutes)
  return `${head}:${pad(seconds % 60)}`
}
