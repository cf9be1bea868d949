const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/

/** `true` or `false`. */
export function flagFault(value: string): string {
  return value === 'true' || value === 'false' ? '' : `must be true or false (got ${quoted(value)})`
}

/** A whole number. */
export function integerFault(min: number, max: number): (value: string) => string {
  return (value) => {
    if (!/^[1-9]\d{0,8}$/.test(value)) return `must be a positive integer (got ${quoted(value)})`
    if (Number(value) < min) return `must be at least ${min} (got ${value})`
    return Number(value) > max ? `must be at most ${max} (got ${value})` : ''
  }
}

/** Milliseconds of a duration as Go writes it, such as `1m30s`; undefined if it is none. */
export function durationMs(value: string): number | undefined {
  if (!DURATION.test(value)) return undefined
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS_MS[unit] ?? 0), 0)
}

/** A duration as Go writes it, within bounds that are named as in its message. */
export function durationFault(minMs: number, maxMs: number, min: string, max: string): (value: string) => string {
  return (value) => {
    const ms = durationMs(value)
    if (ms === undefined) return `must be a valid duration (got ${quoted(value)})`
    return ms < minMs || ms > maxMs ? `must be between ${min} and ${max} (got ${value})` : ''
  }
}

/** A duration as Prometheus writes it: `7d`, `2h30m`. */
export function retentionFault(value: string): string {
  const isDuration =
    value !== '' && /^(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/.test(value) && /[1-9]/.test(value)
  return isDuration ? '' : `must be a duration of Prometheus such as 24h, 7d or 2h30m (got ${quoted(value)})`
}

/** The version of a chart, of one major version if it is given. */
export function chartFault(major?: number): (value: string) => string {
  return (value) => {
    const [, found] = /^(\d{1,4})\.\d{1,4}\.\d{1,4}$/.exec(value) ?? []
    if (found === undefined) return `must be a version such as ${major ?? 1}.2.3 (got ${quoted(value)})`
    return major !== undefined && Number(found) !== major ? `must stay within ${major}.x (got ${value})` : ''
  }
}

/** The name of a variable of Grafana. */
export function variableFault(value: string): string {
  return /^[A-Za-z0-9_]{1,64}$/.test(value)
    ? ''
    : `must contain only letters, digits, and underscore (got ${quoted(value)})`
}

/** An address that the message does not repeat: it may have a password. */
export function urlFault(value: string): string {
  try {
    const { protocol, hostname } = new URL(value)
    const isHttp = protocol === 'http:' || protocol === 'https:'
    return isHttp && hostname !== '' && value.length <= 1024 ? '' : 'must be an address of http or https'
  } catch {
    return 'must be an address of http or https'
  }
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 60))
}
