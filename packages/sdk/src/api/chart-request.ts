import { SondeError } from '../errors.ts'
import { GPU_FIELDS, type GpuField } from './apps.ts'

// Parameters of `GET /api/v1/apps/:app/metrics-by-service`. Servers and `@sonde/sdk/client` check them by the same
// rules, so a client sees the same words before it sends a request.

/** Largest number of points in a window, if the request names no period. */
const POINTS = 300
/** Unit: milliseconds. */
const PERIOD_MIN_MS = 5000
const RANGE_MAX_MS = 86_400_000
/** With this distance of samples a request is only refused if it is invalid for every distance. */
export const LONGEST_PERIOD_MS = RANGE_MAX_MS
const RANGE_DEFAULT_MS = 1_800_000
const POINTS_MAX = 5000
/** Total memory hardly changes, so a line of it shows nothing. */
const CHART_FIELDS = GPU_FIELDS.filter((field) => field !== 'gpu-mem-total')

/** Limits of one request for series. Policy: larger requests are refused. */
export interface ChartLimits {
  /** Services in one request. Default: 100. */
  readonly services: number
  /** Values in one answer: services × times × fields. Default: 250 000. */
  readonly cells: number
}

/** A checked request. Unit of the times: milliseconds since the Unix epoch. */
export interface ChartRequest {
  readonly app: string
  readonly services: readonly string[]
  readonly fields: readonly GpuField[]
  readonly startMs: number
  readonly endMs: number
  readonly periodMs: number
}

/** Parameters of a request as text; undefined if missing. */
export interface ChartParameters {
  readonly start: string | undefined
  readonly end: string | undefined
  readonly period: string | undefined
  readonly fields: string | undefined
}

/**
 * Checks a request for series.
 *
 * @param intervalMs Distance of the samples; the period is a multiple of it.
 * @throws SondeError `QRY_FORM` names the parameter, its value and the allowed values; `APP_CAP` if the request asks
 * for more services or values than allowed.
 */
export function chartRequest(
  app: string,
  services: readonly string[],
  asked: ChartParameters,
  { limits, intervalMs, nowMs }: { limits: ChartLimits; intervalMs: number; nowMs: number },
): ChartRequest {
  const endMs = chartTime(asked.end, 'end') ?? nowMs
  const startMs = chartTime(asked.start, 'start') ?? endMs - RANGE_DEFAULT_MS
  const rangeMs = endMs - startMs
  if (!(rangeMs > 0)) throw refused('end', asked.end, 'a time after start')
  if (rangeMs > RANGE_MAX_MS) throw refused('start', asked.start, 'at most 24 h before end')
  const periodMs = periodOf(asked.period, rangeMs, intervalMs)
  const points = Math.floor(rangeMs / periodMs) + 1
  if (points > POINTS_MAX) throw refused('period', asked.period, `a period that gives at most ${POINTS_MAX} points`)
  const fields = fieldsOf(asked.fields)
  if (new Set(services).size < services.length) throw refused('services', services.join(','), 'each service once')
  if (services.length > limits.services) {
    throw new SondeError(
      'APP_CAP',
      `${services.length} services in one request; allowed: ${limits.services}, or raise limits.gpu_metrics_max_pods`,
    )
  }
  const cells = services.length * points * fields.length
  if (cells > limits.cells) {
    throw new SondeError(
      'APP_CAP',
      `${cells} values, services times points times fields; allowed: ${limits.cells}: ask for a longer period or fewer services, or raise limits.gpu_metrics_max_cells`,
    )
  }
  return { app, services, fields, startMs, endMs, periodMs }
}
function fieldsOf(text: string | undefined): readonly GpuField[] {
  if (text === undefined) return CHART_FIELDS
  const names = text.split(',')
  const fields = GPU_FIELDS.filter((field) => names.includes(field))
  if (fields.length === names.length) return names.flatMap((name) => fields.find((field) => field === name) ?? [])
  throw refused('fields', text, `names of ${GPU_FIELDS.join(', ')}, each once, separated by commas`)
}

/** Names that are valid in a path. */
const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/

/**
 * The name of an app, service or pod, if it can be such a name.
 *
 * @throws SondeError `QRY_FORM` if it cannot.
 */
export function checkedName(name: string, key: string): string {
  if (NAME.test(name)) return name
  const told = JSON.stringify(name.slice(0, 100))
  throw new SondeError('QRY_FORM', `${key} is ${told}; allowed: names of letters, digits, ".", "_" and "-"`)
}

/** The requested period, else the shortest with at most 300 points; a multiple of the distance of the samples. */
function periodOf(text: string | undefined, rangeMs: number, intervalMs: number): number {
  if (text !== undefined) {
    const seconds = Number(text)
    if (!Number.isInteger(seconds) || seconds * 1000 < PERIOD_MIN_MS)
      throw refused('period', text, 'whole seconds, at least 5')
    return seconds * 1000
  }
  const least = Math.max(PERIOD_MIN_MS, intervalMs, rangeMs / POINTS)
  const grid = intervalMs > 0 ? intervalMs : 1000
  return Math.ceil(least / grid) * grid
}

const COMPACT = /^(\d{4})(\d\d)(\d\d)\.(\d\d)(\d\d)(\d\d)(?:\.(\d{1,9}))?$/
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/

/**
 * A time: milliseconds since the Unix epoch, ISO 8601, or `YYYYMMDD.HHMMSS` with an optional fraction; UTC without a
 * zone.
 *
 * @throws SondeError `QRY_FORM` if it is none of these.
 */
export function chartTime(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,14}$/.test(text) ? Number(text) : parseTime(text)
  if (Number.isFinite(ms)) return ms
  throw refused(name, text, 'milliseconds since the Unix epoch, ISO 8601, or YYYYMMDD.HHMMSS in UTC')
}

/** NaN if the text is no time. */
function parseTime(text: string): number {
  const compact = COMPACT.exec(text)
  if (compact !== null) {
    const [, year, month, day, hour, minute, second, fraction = '0'] = compact
    return dateOf(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3)}`, 'Z')
  }
  const iso = ISO.exec(text)
  if (iso === null) return Number.NaN
  const [, zone = 'Z'] = iso
  const local = iso[1] === undefined ? text : text.slice(0, -iso[1].length)
  return dateOf(local.includes('T') ? local : `${local}T00:00`, zone)
}

/** NaN if the day does not exist: `Date.parse` reads 30 February as 2 March. */
function dateOf(local: string, zone: string): number {
  const ms = Date.parse(`${local}Z`)
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== local.slice(0, 10)) return Number.NaN
  return Date.parse(`${local}${zone}`)
}

function refused(name: string, value: string | undefined, allowed: string): SondeError {
  return new SondeError('QRY_FORM', `${name} is ${JSON.stringify((value ?? '').slice(0, 100))}; allowed: ${allowed}`)
}
