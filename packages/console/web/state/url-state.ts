import { markInvisible } from '../format/marked-text.ts'
import { signalFault } from './signal.ts'

const EXPORTERS = ['helm', 'operator', 'none'] as const
const PROGRAMS = ['agent', 'console', 'ps'] as const

/** The state in the address of a page. Every part is optional; times are milliseconds since the epoch. */
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
  /** Whether long lists show their idle rows. */
  readonly idle?: 'shown'
  /** Text of a filter. */
  readonly q?: string
  /** The subject of the explain page: a source, a device, a metric, traceback, or `rule:NAME`. */
  readonly of?: string
  /** Signals of the explorer, each of which `parseSignal` reads. */
  readonly sig?: readonly string[]
  /** Step of the samples, if it is not the step of the window. */
  readonly stepMs?: number
  /** The rule and the device whose incidents are listed. */
  readonly rule?: string
  readonly device?: string
  /** State and severity of the listed incidents. Absent: all. */
  readonly state?: 'open' | 'ended'
  readonly severity?: 'critical' | 'warning' | 'notice'
  /** Only incidents that began within this time before now. */
  readonly withinMs?: number
  /** Signals of one kind of thing, as the API calls it. */
  readonly kind?: string
  /** The visible part of the window of an event, in microsecond resolution. */
  readonly zoom?: { readonly fromMs: number; readonly toMs: number }
  /** How dcgm-exporter was installed, and the program that the reader of the page runs. */
  readonly exporter?: (typeof EXPORTERS)[number]
  readonly program?: (typeof PROGRAMS)[number]
  readonly tz?: 'utc' | 'local'
}

/** An ignored part of an address. */
export interface IgnoredPart {
  /** Name of the parameter; with its value if it may be repeated. */
  readonly part: string
  /** Why, in a sentence; empty if the name alone says it. */
  readonly reason: string
}

/** A parsed address with its ignored parts. */
export interface ParsedUrl {
  readonly state: UrlState
  readonly ignored: readonly IgnoredPart[]
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const RANGE_MIN_MS = 10_000
const RANGE_MAX_MS = 366 * 86_400_000
const STEP_MIN_MS = 100
const STEP_MAX_MS = 86_400_000
const SIGNAL_LIMIT_COUNT = 16

/** Reads `500ms`, `5m`, `24h`; undefined if it is no duration or out of bounds. */
export function parseSpan(text: string, minMs: number, maxMs: number): number | undefined {
  const match = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text)
  if (!match) return undefined
  const ms = Number(match[1]) * UNIT_MS[match[2]!]!
  return ms >= minMs && ms <= maxMs ? ms : undefined
}

/** Writes a duration as `5m`, with the largest unit that divides it. */
export function formatSpan(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const size = UNIT_MS[unit]!
    // A day is written as 24h, as the page's own control names it.
    if (ms % size === 0 && (unit !== 'd' || ms > 86_400_000)) return `${ms / size}${unit}`
  }
  return `${Math.round(ms)}ms`
}

/** Reads an ISO 8601 time; digits finer than a millisecond become a fraction. */
export function parseTimeMs(text: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})?$/.exec(text)
  if (!match) return undefined
  const ms = Date.parse(`${match[1]}${match[3] ?? 'Z'}`)
  if (Number.isNaN(ms)) return undefined
  return ms + Number(`0.${match[2] ?? '0'}`) * 1000
}

/** Writes a time as ISO 8601 in UTC, with as many digits as it has, down to microseconds. */
export function formatTime(ms: number): string {
  const us = Math.round((ms - Math.floor(ms)) * 1_000)
  const whole = new Date(Math.floor(ms) + (us === 1_000 ? 1 : 0)).toISOString()
  if (us % 1_000 === 0) return whole.replace('.000Z', 'Z')
  return whole.replace('Z', `${String(us).padStart(3, '0')}Z`)
}

/** Reads `FROM/TO`, an interval of ISO 8601; undefined if it is none. */
function parseInterval(text: string): { readonly fromMs: number; readonly toMs: number } | undefined {
  const [fromMs, toMs, ...more] = text.split('/').map(parseTimeMs)
  if (fromMs === undefined || toMs === undefined || more.length > 0 || fromMs >= toMs) return undefined
  return { fromMs, toMs }
}

type Reader = (value: string, all: readonly string[]) => Partial<UrlState> | undefined

const timeReader =
  (key: 'fromMs' | 'toMs' | 'atMs'): Reader =>
  (value) => {
    const ms = parseTimeMs(value)
    return ms === undefined ? undefined : { [key]: ms }
  }

function oneOf(key: 'exporter' | 'program', allowed: readonly string[], value: string): Partial<UrlState> | undefined {
  return allowed.includes(value) ? { [key]: value } : undefined
}

/** Every known parameter, in the order in which they are written. */
const READERS: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    range: (value) => {
      const rangeMs = parseSpan(value, RANGE_MIN_MS, RANGE_MAX_MS)
      return rangeMs === undefined ? undefined : { rangeMs }
    },
    from: timeReader('fromMs'),
    to: timeReader('toMs'),
    at: timeReader('atMs'),
    lit: (value) => ({ lit: value.split(',').filter(Boolean) }),
    view: (value) => (value === 'herd' || value === 'lines' ? { view: value } : undefined),
    sort: (value) => (/^-?[\w.]+$/.test(value) ? { sort: value } : undefined),
    idle: (value) => (value === 'shown' ? { idle: value } : undefined),
    q: (value) => ({ q: value.slice(0, 200) }),
    of: (value) => ({ of: value.slice(0, 200) }),
    sig: (_value, all) => ({ sig: all }),
    step: (value) => {
      const stepMs = parseSpan(value, STEP_MIN_MS, STEP_MAX_MS)
      return stepMs === undefined ? undefined : { stepMs }
    },
    rule: (value) => ({ rule: value.slice(0, 200) }),
    device: (value) => ({ device: value.slice(0, 200) }),
    state: (value) => (value === 'open' || value === 'ended' ? { state: value } : undefined),
    severity: (value) =>
      value === 'critical' || value === 'warning' || value === 'notice' ? { severity: value } : undefined,
    within: (value) => {
      const withinMs = parseSpan(value, RANGE_MIN_MS, RANGE_MAX_MS)
      return withinMs === undefined ? undefined : { withinMs }
    },
    kind: (value) => ({ kind: value.slice(0, 200) }),
    zoom: (value) => {
      const zoom = parseInterval(value)
      return zoom === undefined ? undefined : { zoom }
    },
    exporter: (value) => oneOf('exporter', EXPORTERS, value),
    program: (value) => oneOf('program', PROGRAMS, value),
    tz: (value) => (value === 'utc' || value === 'local' ? { tz: value } : undefined),
  }),
)

const TIMES = 'from and to are two times such as 2026-11-27T09:16:30Z, the earlier first.'

/** The accepted form of each parameter, as a sentence. */
const FORMS: Readonly<Record<string, string>> = {
  range: 'range is a duration such as 5m; of a window that is over, give from and to.',
  from: TIMES,
  to: TIMES,
  at: 'at is a time such as 2026-11-27T09:16:30Z.',
  view: 'view is herd or lines.',
  sort: 'sort is the name of a column, with - in front where the largest comes first.',
  idle: 'idle is shown, or left out.',
  step: 'step is a duration such as 1s.',
  state: 'state is open or ended.',
  severity: 'severity is critical, warning or notice.',
  within: 'within is a duration such as 24h.',
  zoom: 'zoom is two times such as 2026-11-27T09:16:30Z with / between them, the earlier first.',
  exporter: 'exporter is helm, operator or none.',
  program: 'program is agent, console or ps.',
  tz: 'tz is utc or local.',
}

/** Reads the query part of an address. Unknown or wrong parts are reported, never fatal. */
export function parseUrl(search: string): ParsedUrl {
  const parameters = new URLSearchParams(search)
  let state: UrlState = {}
  const unknown: string[] = []
  for (const key of new Set(parameters.keys())) {
    const all = parameters.getAll(key).map(markInvisible)
    const read = READERS.get(key)?.(all[0] ?? '', all)
    if (read) state = { ...state, ...read }
    else unknown.push(markInvisible(key))
  }
  if ((state.fromMs === undefined) !== (state.toMs === undefined) || (state.fromMs ?? 0) >= (state.toMs ?? 1)) {
    unknown.push(...['from', 'to'].filter((key) => parameters.has(key) && !unknown.includes(key)))
    const { fromMs: _from, toMs: _to, ...rest } = state
    state = rest
  }
  const ignored = unknown.map(
    (part): IgnoredPart => ({
      part,
      reason: (READERS.has(part) ? FORMS[part] : undefined) ?? `Nothing here takes ${part.slice(0, 40)}.`,
    }),
  )
  if (!state.sig) return { state, ignored }
  const { sig, refused } = readSignals(state.sig)
  const { sig: _sig, ...rest } = state
  return { state: sig.length > 0 ? { ...rest, sig } : rest, ignored: [...ignored, ...refused] }
}

function readSignals(all: readonly string[]): { sig: readonly string[]; refused: readonly IgnoredPart[] } {
  const readable = all.filter((text) => signalFault(text) === '')
  const wrong = all
    .map((text) => ({ part: `sig=${text}`, reason: signalFault(text) }))
    .filter(({ reason }) => reason !== '')
  const beyond = readable.slice(SIGNAL_LIMIT_COUNT).map((text) => ({
    part: `sig=${text}`,
    reason: `At most ${SIGNAL_LIMIT_COUNT} signals are compared.`,
  }))
  return { sig: readable.slice(0, SIGNAL_LIMIT_COUNT), refused: [...wrong, ...beyond] }
}

/** Writes the query part of an address in a fixed order; empty for an empty state. */
export function formatUrl(state: UrlState): string {
  const written: Readonly<Record<string, readonly (string | undefined)[]>> = {
    range: [state.rangeMs === undefined || state.fromMs !== undefined ? undefined : formatSpan(state.rangeMs)],
    from: [state.fromMs === undefined ? undefined : formatTime(state.fromMs)],
    to: [state.toMs === undefined ? undefined : formatTime(state.toMs)],
    at: [state.atMs === undefined ? undefined : formatTime(state.atMs)],
    lit: [state.lit?.length ? state.lit.join(',') : undefined],
    view: [state.view],
    sort: [state.sort],
    idle: [state.idle],
    q: [state.q || undefined],
    of: [state.of || undefined],
    sig: state.sig ?? [],
    step: [state.stepMs === undefined ? undefined : formatSpan(state.stepMs)],
    rule: [state.rule || undefined],
    device: [state.device || undefined],
    state: [state.state],
    severity: [state.severity],
    within: [state.withinMs === undefined ? undefined : formatSpan(state.withinMs)],
    kind: [state.kind || undefined],
    zoom: [state.zoom && `${formatTime(state.zoom.fromMs)}/${formatTime(state.zoom.toMs)}`],
    exporter: [state.exporter],
    program: [state.program],
    tz: [state.tz],
  }
  const parts = [...READERS.keys()].flatMap((key) =>
    (written[key] ?? []).flatMap((value) => (value === undefined ? [] : `${key}=${readable(value)}`)),
  )
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** Encodes a value except for characters that are legal and easier to read. */
function readable(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|2C|3B|3D|2F)/g, decodeURIComponent)
}
