import type { TimeZoneChoice } from '../format/time.ts'
import { parseTimeMs } from './url-state.ts'

const DAY_MS = 86_400_000

/**
 * Reads a moment of the past as people type it: `14:03`, `14:03:07`, `yesterday 9:10`, or an ISO time. A time of day is
 * the latest that has passed. Undefined if it is none of these. Unit: milliseconds since the epoch.
 */
export function parseMoment(text: string, nowMs: number, zone: TimeZoneChoice): number | undefined {
  const typed = text.trim().toLowerCase()
  const offsetMs = (atMs: number) => (zone === 'utc' ? 0 : new Date(atMs).getTimezoneOffset() * 60_000)
  const match = /^(?:(yesterday|today)\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(typed)
  if (match) {
    const [hours, minutes, seconds] = [match[2], match[3], match[4] ?? '0'].map(Number) as [number, number, number]
    if (hours > 23 || minutes > 59 || seconds > 59) return undefined
    const wallMs = nowMs - offsetMs(nowMs)
    const midnightMs = Math.floor(wallMs / DAY_MS) * DAY_MS
    const ofTodayMs = midnightMs + ((hours * 60 + minutes) * 60 + seconds) * 1000
    const isBefore = match[1] === 'yesterday' || (match[1] === undefined && ofTodayMs > wallMs)
    const atMs = isBefore ? ofTodayMs - DAY_MS : ofTodayMs
    return atMs + offsetMs(atMs)
  }
  const iso = text
    .trim()
    .toUpperCase()
    .replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T')
  const atMs = parseTimeMs(iso)
  if (atMs === undefined) return undefined
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(iso) ? atMs : atMs + offsetMs(atMs)
}
