const SPAN_NS: Readonly<Record<string, bigint>> = {
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
}

/**
 * Parses a time, in nanoseconds since the Unix epoch: ISO 8601, in UTC if it names no zone, or a span back from now
 * such as `90s`, `10m`, `2h`, `7d`. Undefined if it is neither.
 */
export function parseTime(text: string, nowMs: number): bigint | undefined {
  const [, span, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (span !== undefined) return BigInt(nowMs) * 1_000_000n - BigInt(span) * (SPAN_NS[unit] ?? 0n)
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text)
  if (match === null) return undefined
  const [, day, minutes = '00:00', seconds = '00', fraction = '', zone = 'Z'] = match
  const ms = Date.parse(`${day}T${minutes}:${seconds}${zone}`)
  // Without this check, 31 November would mean 1 December.
  const isDay = new Date(Date.parse(`${day}T00:00Z`)).toJSON()?.startsWith(day ?? '') === true
  return Number.isNaN(ms) || !isDay ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
