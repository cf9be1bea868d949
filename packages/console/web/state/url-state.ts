/** What the address of a page may say. Every part is optional; times are milliseconds since the epoch. */
export interface UrlState {
  /** Length of a live window. */
  readonly rangeMs?: number
  readonly fromMs?: number
  readonly toMs?: number
  /** The pinned cursor. */
  readonly atMs?: number
  /** Members that are lit by hand. */
  readonly lit?: readonly string[]
  readonly view?: 'herd' | 'lines'
  /** Column of a table; a leading minus means descending. */
  readonly sort?: string
  /** Text of a filter. */
  readonly q?: string
  /** Signals of the explorer, each `function:metric:label=value;…`. */
  readonly sig?: readonly string[]
  /** Function, grouping label and step of the explorer. */
  readonly fn?: string
  readonly by?: string
  readonly stepMs?: number
  readonly tz?: 'utc' | 'local'
}

/** An address that was read, and the parameters in it that mean nothing here. */
export interface ParsedUrl {
  readonly state: UrlState
  readonly unknown: readonly string[]
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const RANGE_MIN_MS = 10_000
const RANGE_MAX_MS = 366 * 86_400_000

/** Reads `5m`, `24h`; undefined where it is no duration between 10 s and a year. */
export function parseRange(text: string): number | undefined {
  const match = /^(\d{1,6})(s|m|h|d)$/.exec(text)
  if (!match) return undefined
  const ms = Number(match[1]) * UNIT_MS[match[2]!]!
  return ms >= RANGE_MIN_MS && ms <= RANGE_MAX_MS ? ms : undefined
}

/** Writes a duration as `5m`, with the largest unit that divides it. */
export function formatRange(ms: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    const size = UNIT_MS[unit]!
    // A day is written as 24h, as the page's own control names it.
    if (ms % size === 0 && (unit !== 'd' || ms > 86_400_000)) return `${ms / size}${unit}`
  }
  return `${Math.round(ms / 1000)}s`
}

/** Reads an ISO 8601 time; digits finer than a millisecond become a fraction. */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})?$/.exec(text)
  if (!match) return undefined
  const ms = Date.parse(`${match[1]}${match[3] ?? 'Z'}`)
  if (Number.isNaN(ms)) return undefined
  return ms + Number(`0.${match[2] ?? '0'}`) * 1000
}

/** Writes a time as ISO 8601 in UTC, with as many digits as it has. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

type Reader = (value: string, all: readonly string[]) => Partial<UrlState> | undefined

const timeReader =
  (key: 'fromMs' | 'toMs' | 'atMs'): Reader =>
  (value) => {
    const ms = parseTime(value)
    return ms === undefined ? undefined : { [key]: ms }
  }

/** Every known parameter, in the order in which they are written. */
const READERS: Readonly<Record<string, Reader>> = {
  range: (value) => {
    const rangeMs = parseRange(value)
    return rangeMs === undefined ? undefined : { rangeMs }
  },
  from: timeReader('fromMs'),
  to: timeReader('toMs'),
  at: timeReader('atMs'),
  lit: (value) => ({ lit: value.split(',').filter(Boolean) }),
  view: (value) => (value === 'herd' || value === 'lines' ? { view: value } : undefined),
  sort: (value) => (/^-?[\w.]+$/.test(value) ? { sort: value } : undefined),
  q: (value) => ({ q: value.slice(0, 200) }),
  sig: (_value, all) => ({ sig: all.slice(0, 16) }),
  fn: (value) => (['rate', 'last', 'avg', 'min', 'max', 'increase'].includes(value) ? { fn: value } : undefined),
  by: (value) => (/^\w*$/.test(value) ? { by: value } : undefined),
  step: (value) => {
    const ms = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN
    return ms >= 100 && ms <= 3_600_000 ? { stepMs: ms } : undefined
  },
  tz: (value) => (value === 'utc' || value === 'local' ? { tz: value } : undefined),
}

/** Reads the query part of an address. What is unknown or wrong is named, never fatal. */
export function parseUrl(search: string): ParsedUrl {
  const parameters = new URLSearchParams(search)
  let state: UrlState = {}
  const unknown: string[] = []
  for (const key of new Set(parameters.keys())) {
    const all = parameters.getAll(key)
    const read = READERS[key]?.(all[0] ?? '', all)
    if (read) state = { ...state, ...read }
    else unknown.push(key)
  }
  if ((state.fromMs === undefined) !== (state.toMs === undefined) || (state.fromMs ?? 0) >= (state.toMs ?? 1)) {
    unknown.push(...['from', 'to'].filter((key) => parameters.has(key) && !unknown.includes(key)))
    const { fromMs: _from, toMs: _to, ...rest } = state
    state = rest
  }
  return { state, unknown }
}

/** Writes the query part of an address, in a fixed order; empty where nothing is said. */
export function formatUrl(state: UrlState): string {
  const written: Readonly<Record<string, readonly (string | undefined)[]>> = {
    range: [state.rangeMs === undefined || state.fromMs !== undefined ? undefined : formatRange(state.rangeMs)],
    from: [state.fromMs === undefined ? undefined : formatTime(state.fromMs)],
    to: [state.toMs === undefined ? undefined : formatTime(state.toMs)],
    at: [state.atMs === undefined ? undefined : formatTime(state.atMs)],
    lit: [state.lit?.length ? state.lit.join(',') : undefined],
    view: [state.view],
    sort: [state.sort],
    q: [state.q || undefined],
    sig: state.sig ?? [],
    fn: [state.fn],
    by: [state.by],
    step: [state.stepMs === undefined ? undefined : String(state.stepMs)],
    tz: [state.tz],
  }
  const parts = Object.keys(READERS).flatMap((key) =>
    (written[key] ?? []).flatMap((value) => (value === undefined ? [] : `${key}=${readable(value)}`)),
  )
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** Encodes a value but leaves what is legal in a query part and easier to read. */
function readable(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|2C|3B|3D|2F)/g, decodeURIComponent)
}
