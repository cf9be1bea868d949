import { SondeError } from '@sonde/sdk'
import {
  type Hint,
  type HintsUnknown,
  INCIDENT_MARGIN_MS,
  type Incident,
  type IncidentMoment,
  type IncidentsAnswer,
  isInWindow,
  spanOfIncident,
} from '@sonde/sdk/api'
import type { HintHistory, KnownHints } from '../hints/history/hint-history.ts'
import type { Traceback } from '../traceback/traceback.ts'
import { AGAIN_MS } from './cause-keys.ts'
import { hintGroups } from './hint-groups.ts'
import { type IncidentFilter, matchesIncident } from './incident-filter.ts'
import { cursorBefore, cursorBehind, isBehind, readCursor } from './list-cursor.ts'
import { type AcknowledgedBy, byListOrder, eventIncident, hintIncident } from './make-incident.ts'

/** Hints that began this long before the window may belong to its incidents. Unit: milliseconds. */
const LOOK_BACK_MS = 3_600_000
/** Hints of one incident are this close to each other, so a cursor reads this much more. Unit: milliseconds. */
const LOOK_AHEAD_MS = 2 * AGAIN_MS
/** Most events of traceback that one answer looks at. There are at most `events_max`. */
const EVENT_LIMIT = 1_000_000
/** Numbers of hints are nanoseconds; numbers of events are below this. */
const EVENT_NUMBERS = 2n ** 53n
const NS_PER_MS = 1_000_000n
/** Most looks at a long incident until its end is found. */
const LOOK_COUNT_MAX = 12

/** Options of {@link Incidents}. */
export interface IncidentsOptions {
  readonly node: string
  readonly hintHistory: Pick<HintHistory, 'recent' | 'statements' | 'window'>
  readonly traceback: Pick<Traceback, 'get' | 'list' | 'opened' | 'openCount'>
  readonly acknowledgedBy: AcknowledgedBy
}

/** A list of incidents. */
export type ListedIncidents = Pick<
  IncidentsAnswer,
  'nowMs' | 'fromMs' | 'toMs' | 'incidents' | 'next' | 'openCount' | 'unknown' | 'rules' | 'blind'
>

/** An incident with its numbers when it opened and when it was worst. */
export interface FoundIncident {
  readonly incident: Incident
  readonly opened?: IncidentMoment
  readonly peak?: IncidentMoment
}

/** The incidents of a node: hints and events of traceback, from memory, the store and the files of events. */
export class Incidents {
  readonly #options: IncidentsOptions

  constructor(options: IncidentsOptions) {
    this.#options = options
  }

  /** Incidents of now and of the last hour, from memory alone. */
  recent(): Incident[] {
    const { hints, ended } = this.#options.hintHistory.recent()
    return [...this.#ofHints([...hints, ...ended]), ...this.#ofEvents({ limit: 100 })].sort(byListOrder)
  }

  /** Open incidents, from memory. */
  get openCount(): number {
    const { hints, ended } = this.#options.hintHistory.recent()
    const open = this.#ofHints([...hints, ...ended]).filter(({ state }) => state === 'open')
    return open.length + this.#options.traceback.openCount
  }

  /** Lists the matching incidents of a window. */
  async list(wanted: IncidentFilter): Promise<ListedIncidents> {
    const { hintHistory, traceback } = this.#options
    await traceback.opened()
    const { nowMs: toldMs, rules, blind } = hintHistory.recent()
    const nowMs = toldMs || Date.now()
    const cursor = wanted.cursor === undefined ? undefined : readCursor(wanted.cursor)
    const window = { fromMs: wanted.fromMs ?? 0, toMs: Math.min(wanted.toMs ?? nowMs, nowMs) }
    const stateMs = Math.min(window.toMs, (cursor?.endMs ?? window.toMs) + LOOK_AHEAD_MS)
    const known = await this.#known(wanted, Math.max(0, window.fromMs - LOOK_BACK_MS), stateMs)
    // At the edge of the read hints an incident may lack its first hints: the next answer has it.
    const isCut = known.fromMs > window.fromMs
    const leastEndMs = isCut ? known.fromMs + LOOK_AHEAD_MS : Number.NEGATIVE_INFINITY
    const matching = [...this.#ofHints(known.hints), ...this.#ofEvents({ limit: EVENT_LIMIT })]
      .filter((one) => isInWindow(spanOfIncident(one), window) && matchesIncident(one, wanted))
      .filter((one) => (one.endMs ?? Number.POSITIVE_INFINITY) >= leastEndMs)
      .filter((one) => cursor === undefined || isBehind(one, cursor))
      .sort(byListOrder)
    const incidents = matching.slice(0, wanted.limit)
    const last = incidents.at(-1)
    const isLong = matching.length > incidents.length && last !== undefined
    const isMoving = isCut && leastEndMs < (cursor?.endMs ?? window.toMs)
    const next = isLong ? cursorBehind(last) : isMoving ? cursorBefore(leastEndMs) : undefined
    const unknown =
      isCut && next === undefined ? [tooMany(window.fromMs, known.fromMs), ...known.unknown] : known.unknown
    return {
      ...{ nowMs, ...window, incidents, openCount: this.openCount, rules, blind },
      ...(next === undefined ? {} : { next }),
      // Without a start, the list has whatever is kept.
      unknown: (wanted.fromMs === undefined ? [] : unknown)
        .map((span) => ({ ...span, fromMs: Math.max(span.fromMs, window.fromMs) }))
        .filter((span) => span.toMs > span.fromMs),
    }
  }

  /** Open hints are in memory, so a list of open incidents reads nothing else. */
  async #known({ state, kind, toMs }: IncidentFilter, fromMs: number, stateMs: number): Promise<KnownHints> {
    const { hintHistory } = this.#options
    const { hints, ended } = hintHistory.recent()
    if (kind === 'event') return { hints: [], unknown: [], fromMs, unreadable: 0 }
    if (state === 'open' && toMs === undefined)
      return { hints: [...hints, ...ended], unknown: [], fromMs, unreadable: 0 }
    return hintHistory.window(fromMs, stateMs)
  }

  /**
   * Finds an incident by its id, or by the id of any of its hints.
   * @throws SondeError `INC_UNKNOWN` if there is none.
   */
  async get(id: string): Promise<FoundIncident> {
    const number = this.#numberOf(id)
    if (number === undefined) throw unknownIncident(id)
    const found = number < EVENT_NUMBERS ? await this.#event(Number(number)) : await this.#hintsOf(number)
    if (found === undefined) throw unknownIncident(id)
    return found
  }

  async #event(number: number): Promise<FoundIncident | undefined> {
    await this.#options.traceback.opened()
    const { events } = this.#options.traceback.list({ limit: EVENT_LIMIT })
    // The id of a part leads to its event.
    const first = this.#options.traceback.get(number)?.first?.id ?? number
    const event = events.find((one) => (one.first?.id ?? one.id) === first)
    return event && { incident: eventIncident(this.#options.node, event, this.#options.acknowledgedBy) }
  }

  /** Looks around the time of the number, and on until the end of the incident. */
  async #hintsOf(number: bigint): Promise<FoundIncident | undefined> {
    const { hintHistory, node, acknowledgedBy } = this.#options
    const openedMs = Number(number / NS_PER_MS)
    const nowMs = hintHistory.recent().nowMs || Date.now()
    const fromMs = Math.max(0, openedMs - LOOK_BACK_MS)
    let toMs = openedMs + LOOK_AHEAD_MS
    let group: Hint[] | undefined
    for (let looks = 0; looks < LOOK_COUNT_MAX; looks++) {
      const { hints } = await hintHistory.window(fromMs, Math.min(toMs, nowMs))
      group = hintGroups(hints).find((one) => one.some(({ event }) => event === String(number)))
      if (group === undefined || toMs >= nowMs) break
      const endMs = Math.max(...group.map((hint) => hint.endedMs ?? nowMs))
      if (endMs + LOOK_AHEAD_MS <= toMs) break
      toMs = endMs + LOOK_AHEAD_MS
    }
    const [cause] = group ?? []
    if (group === undefined || cause === undefined) return undefined
    const stated = await hintHistory.statements(new Set([cause.event]), cause.sinceMs - 1, Math.min(toMs, nowMs))
    const moments = stated.map(({ measured_ms, sentence, value }) => ({ atMs: measured_ms, sentence, value }))
    const [opened] = moments
    return {
      incident: hintIncident(node, group, acknowledgedBy),
      ...(opened === undefined ? {} : { opened }),
      peak: worstOf([...moments, { atMs: cause.measuredMs, sentence: cause.sentence, value: cause.value }], cause),
    }
  }

  #numberOf(id: string): bigint | undefined {
    const at = id.lastIndexOf(':')
    const number = id.slice(at + 1)
    return id.slice(0, at) === this.#options.node && /^[1-9]\d{0,19}$/.test(number) ? BigInt(number) : undefined
  }

  #ofHints(hints: readonly Hint[]): Incident[] {
    const { node, acknowledgedBy } = this.#options
    return hintGroups(hints).map((group) => hintIncident(node, group, acknowledgedBy))
  }

  #ofEvents({ limit }: { readonly limit: number }): Incident[] {
    const { node, acknowledgedBy, traceback } = this.#options
    return traceback.list({ limit }).events.map((event) => eventIncident(node, event, acknowledgedBy))
  }
}

/** Time from which and until which the page of an incident shows data. */
export function incidentWindow({ startMs, endMs }: Incident, nowMs: number) {
  const toMs = endMs === undefined ? nowMs : Math.min(nowMs, endMs + INCIDENT_MARGIN_MS)
  return { fromMs: startMs - INCIDENT_MARGIN_MS, toMs: Math.max(toMs, startMs + 1) }
}

/** The moment furthest beyond the limit. */
function worstOf(moments: readonly [...IncidentMoment[], IncidentMoment], { comparator }: Hint): IncidentMoment {
  const isAbove = comparator.startsWith('>')
  return moments.reduce((worst, one) => ((isAbove ? one.value > worst.value : one.value < worst.value) ? one : worst))
}

function tooMany(fromMs: number, toMs: number): HintsUnknown {
  return { fromMs, toMs, reason: 'The window has too many hints; request a shorter window.' }
}

function unknownIncident(id: string): SondeError {
  return new SondeError(
    'INC_UNKNOWN',
    `there is no incident ${JSON.stringify(id.slice(0, 100))}; /api/v1/incidents lists them`,
  )
}
