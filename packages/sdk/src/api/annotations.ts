import { SondeError } from '../errors.ts'

// `GET /api/v1/annotations`: incidents in the form that Grafana draws. Times are milliseconds since the Unix epoch.

/** What Grafana draws on charts: an incident, or a time span without known incidents. */
export interface Annotation {
  /** That of the incident; of a span without knowledge its reason and start. */
  readonly id: string
  readonly time: number
  /** End of the region; for an open incident the end of the window, or now. */
  readonly timeEnd: number
  readonly title: string
  readonly text: string
  /** `sonde`, then node, kind (`hint`, `event`, `unknown`), rule, severity, device, and `open` or `simulated`. */
  readonly tags: readonly string[]
}

/** What `GET /api/v1/annotations` answers, by time. */
export type AnnotationsAnswer = readonly Annotation[]

/** A checked request for annotations. */
export interface AnnotationsWanted {
  readonly fromMs: number
  readonly toMs: number
  /** An annotation must have all of them. */
  readonly tags: readonly string[]
}

const RANGE_DEFAULT_MS = 86_400_000
const TAG_COUNT_MAX = 32
/** The last time that a JavaScript date holds. */
const TIME_MAX_MS = 8.64e15

/**
 * Checks the query of a request. Empty parameters count as missing, because Grafana sends them.
 *
 * @throws SondeError `QRY_FORM` names the parameter, its value and the allowed values.
 */
export function annotationsWanted(query: Readonly<Record<string, unknown>>, nowMs: number): AnnotationsWanted {
  const toMs = timeIn(query, 'to') ?? nowMs
  const fromMs = timeIn(query, 'from') ?? Math.max(0, toMs - RANGE_DEFAULT_MS)
  if (!(fromMs < toMs)) throw refused('to', String(toMs), 'a time after from')
  const tags = (textIn(query, 'tags') ?? '').split(',').map((tag) => tag.trim())
  const wanted = [...new Set(tags.filter((tag) => tag !== ''))]
  if (wanted.length > TAG_COUNT_MAX) throw refused('tags', `${wanted.length} tags`, `at most ${TAG_COUNT_MAX}`)
  return { fromMs, toMs, tags: wanted }
}

/** Those with all wanted tags, by time. */
export function matchingAnnotations(
  annotations: readonly Annotation[],
  { tags }: Pick<AnnotationsWanted, 'tags'>,
): Annotation[] {
  const matching = annotations.filter((one) => tags.every((tag) => one.tags.includes(tag)))
  return matching.sort((a, b) => a.time - b.time)
}

function timeIn(query: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const text = textIn(query, name)
  if (text === undefined) return undefined
  const ms = Number(text)
  if (ms >= 0 && ms <= TIME_MAX_MS) return ms
  throw refused(name, text, 'milliseconds since the Unix epoch')
}

function textIn(query: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string') return value
  throw refused(name, 'a list', 'once')
}

function refused(name: string, value: string, allowed: string): SondeError {
  return new SondeError('QRY_FORM', `${name} is ${JSON.stringify(value.slice(0, 100))}; allowed: ${allowed}`)
}
