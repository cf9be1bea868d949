import { SondeError } from '@sonde/sdk'
import {
  type Hint,
  type HintsUnknown,
  type HintWindow,
  INCIDENT_MARGIN_MS,
  type Incident,
  type IncidentMoment,
  type IncidentsAnswer,
  isInWindow,
  spanOfIncident,
} from '@sonde/sdk/api'
import type { HintHistory, KnownHints } from '../hints/history/hint-history.ts'
import type { Statement } from '../hints/history/window-hints.ts'
import { joinParts } from '../traceback/parts.ts'
import type { Traceback } from '../traceback/traceback.ts'
import { AGAIN_MS } from './cause-keys.ts'
import { Companions } from './companions.ts'
import { hintGroups } from './hint-groups.ts'
import { type IncidentFilter, matchesIncident } from './incident-filter.ts'
import { cursorBefore, cursorBehind, isBehind, type ListCursor, readCursor } from './list-cursor.ts'
import { type AcknowledgedBy, byListOrder, eventIncident, hintIncident } from './make-incident.ts'
import { unshownOf } from './unshown.ts'

/** Hints that began this long before the window may belong to its incidents. Unit: milliseconds. */
const LOOK_BACK_MS = 3_600_000
/** Hints of one incident are this close to each other, so a cursor reads this much more. Unit: milliseconds. */
const LOOK_AHEAD_MS = 2 * AGAIN_MS
/** Ended events among the recent incidents. Policy: the earlier ones are left out; lists have them. */
const RECENT_EVENTS_MAX = 100
/** Numbers of hints are nanoseconds; numbers of events are below this. */
const EVENT_NUMBERS = 2n ** 53n
const NS_PER_MS = 1_000_000n
/** Most looks at a long incident until its start or its end is found. */
const LOOK_COUNT_MAX = 12

/** Options of {@link Incidents}. */
export interface IncidentsOptions {
  readonly node: string
  readonly hintHistory: Pick<HintHistory, 'recent' | 'statements' | 'window'>
  readonly traceback: Pick<Traceback, 'latest' | 'partsOf' | 'opened' | 'openCount'> & {
    readonly archive: Pick<Traceback['archive'], 'unreadable'>
  }
  readonly acknowledgedBy: AcknowledgedBy
}

/** A list of incidents. */
export type ListedIncidents = Pick<
  IncidentsAnswer,
  'nowMs' | 'fromMs' | 'toMs' | 'incidents' | 'next' | 'openCount' | 'unknown' | 'unshown' | 'rules' | 'blind'
>

/** An incident with its numbers when it opened and when it was worst. */
export interface FoundIncident {
  readonly incident: Incident
  readonly opened?: IncidentMoment
  readonly peak?: IncidentMoment
}

/** What a list looks for, with its window and its place in a longer list. */
interface Wanted {
  readonly filter: IncidentFilter
  readonly window: HintWindow
  readonly cursor: ListCursor | undefined
}

/** The incidents of a node: hints and events of traceback, from memory, the store and the files of events. */
export class Incidents {
  readonly #options: IncidentsOptions
  readonly #companions = new Companions()

  constructor(options: IncidentsOptions) {
    this.#options = options
  }

  /** Incidents of now and of the last hour, from memory alone. */
  recent(): Incident[] {
    const { hints, ended } = this.#options.hintHistory.recent()
    const { node, acknowledgedBy, traceback } = this.#options
    const groups = hintGroups(this.#companions.with([...hints, ...ended]))
    this.#companions.note(groups)
    this.#companions.keepOf(hints)
    const events = traceback.latest().take(RECENT_EVENTS_MAX + traceback.openCount)
    return [
      ...groups.map((group) => hintIncident(node, group, acknowledgedBy)),
      ...events.map((event) => eventIncident(node, event, acknowledgedBy)),
    ].sort(byListOrder)
  }

  /** Open incidents, from memory. */
  get openCount(): number {
    const { hints, ended } = this.#options.hintHistory.recent()
    if (hints.length === 0) return this.#options.traceback.openCount
    const groups = hintGroups(this.#companions.with([...hints, ...ended]))
    const open = groups.filter((group) => group.some(({ endedMs }) => endedMs === undefined))
    return open.length + this.#options.traceback.openCount
  }

  /** Lists the matching incidents of a window. No more is read than the answer needs. */
  async list(filter: IncidentFilter): Promise<ListedIncidents> {
    const { hintHistory, traceback } = this.#options
    await traceback.opened()
    const { nowMs: toldMs, rules, blind } = hintHistory.recent()
    const nowMs = toldMs || Date.now()
    const cursor = filter.cursor === undefined ? undefined : readCursor(filter.cursor)
    const window = { fromMs: filter.fromMs ?? 0, toMs: Math.min(filter.toMs ?? nowMs, nowMs) }
    const wanted = { filter, window, cursor }
    const known = await this.#known(wanted)
    const leastEndMs = leastEnd(known.fromMs, window)
    const listed = { ...window, fromMs: Math.max(window.fromMs, leastEndMs) }
    const groups = await this.#withStarts(hintGroups(this.#companions.with(known.hints)), known.fromMs, listed)
    const matching = [...this.#matching(groups, wanted, leastEndMs), ...this.#eventsOf(wanted)].sort(byListOrder)
    const incidents = matching.slice(0, filter.limit)
    const last = incidents.at(-1)
    const isLong = matching.length > incidents.length && last !== undefined
    const isMoving = leastEndMs > window.fromMs && leastEndMs < (cursor?.endMs ?? window.toMs)
    const next = isLong ? cursorBehind(last) : isMoving ? cursorBefore(leastEndMs) : undefined
    const isCut = known.fromMs > window.fromMs && next === undefined
    const unknown = isCut ? [tooMany(window.fromMs, known.fromMs), ...known.unknown] : known.unknown
    const unshown = unshownOf(known.unreadable, filter.kind === 'hint' ? 0 : traceback.archive.unreadable)
    return {
      ...{ nowMs, ...window, incidents, openCount: this.openCount, rules, blind },
      ...(next === undefined ? {} : { next }),
      // Without a start, the list has whatever is kept.
      unknown: (filter.fromMs === undefined ? [] : unknown)
        .map((span) => ({ ...span, fromMs: Math.max(span.fromMs, window.fromMs) }))
        .filter((span) => span.toMs > span.fromMs),
      ...(unshown === undefined ? {} : { unshown }),
    }
  }

  /** Open hints are in memory, so a list of open incidents reads nothing else. */
  async #known(wanted: Wanted): Promise<KnownHints> {
    const { hintHistory } = this.#options
    const { filter, window, cursor } = wanted
    const fromMs = Math.max(0, window.fromMs - LOOK_BACK_MS)
    const nothing = { hints: [], unknown: [], fromMs, unreadable: 0 }
    const { hints, ended } = hintHistory.recent()
    if (filter.kind === 'event') return nothing
    if (filter.state === 'open' && filter.toMs === undefined) return { ...nothing, hints: [...hints, ...ended] }
    const stateMs = Math.min(window.toMs, (cursor?.endMs ?? window.toMs) + LOOK_AHEAD_MS)
    return hintHistory.window(fromMs, stateMs, (read, readFromMs) => {
      const groups = hintGroups(this.#companions.with(read))
      return this.#matching(groups, wanted, leastEnd(readFromMs, window)).length > filter.limit
    })
  }

  /** The matching incidents of groups that ended at a time or later. */
  #matching(groups: readonly (readonly Hint[])[], { filter, window, cursor }: Wanted, leastEndMs: number): Incident[] {
    const { node, acknowledgedBy } = this.#options
    return groups
      .map((group) => hintIncident(node, group, acknowledgedBy))
      .filter((one) => isInWindow(spanOfIncident(one), window) && matchesIncident(one, filter))
      .filter((one) => (one.endMs ?? Number.POSITIVE_INFINITY) >= leastEndMs)
      .filter((one) => cursor === undefined || isBehind(one, cursor))
  }

  /** The matching incidents of events, as many as the answer can have. */
  #eventsOf({ filter, window, cursor }: Wanted): Incident[] {
    const { node, acknowledgedBy, traceback } = this.#options
    if (filter.kind === 'hint') return []
    const found: Incident[] = []
    let open = 0
    for (const event of traceback.latest(cursor?.endMs)) {
      if (event.endMs !== undefined && event.endMs < window.fromMs) break
      if (event.endMs !== undefined && found.length - open > filter.limit) break
      const incident = eventIncident(node, event, acknowledgedBy)
      const isWanted = isInWindow(spanOfIncident(incident), window) && matchesIncident(incident, filter)
      if (!isWanted || (cursor !== undefined && !isBehind(incident, cursor))) continue
      found.push(incident)
      if (event.endMs === undefined) open++
    }
    return found
  }

  /**
   * The number of an incident is that of its first hint, which may have ended long before the hints that were read.
   * Looks for earlier hints where a group began before them.
   */
  async #withStarts(groups: readonly Hint[][], readFromMs: number, window: HintWindow): Promise<readonly Hint[][]> {
    const isWhole = (group: readonly Hint[]) => startOf(group) - AGAIN_MS >= readFromMs
    const isListed = (group: readonly Hint[]) => isInWindow({ fromMs: startOf(group), ...endOf(group) }, window)
    return Promise.all(
      groups.map((group) => {
        const isKnown = isWhole(group) || !isListed(group) || this.#companions.knows(group)
        return isKnown ? group : this.#withStart(group)
      }),
    )
  }

  async #withStart(known: Hint[]): Promise<Hint[]> {
    let group = known
    for (let looks = 0; looks < LOOK_COUNT_MAX; looks++) {
      const startMs = startOf(group)
      const { hints } = await this.#options.hintHistory.window(startMs - AGAIN_MS, startMs)
      const have = new Set(group.map(({ event }) => event))
      const all = hintGroups([...group, ...hints.filter(({ event }) => !have.has(event))])
      group = all.find((one) => one.some(({ event }) => event === known[0]?.event)) ?? group
      if (startOf(group) >= startMs) break
    }
    this.#companions.note([group])
    return group
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
    const { node, traceback, acknowledgedBy } = this.#options
    await traceback.opened()
    // The id of a part leads to its event.
    const parts = traceback.partsOf(number)
    return parts.length === 0 ? undefined : { incident: eventIncident(node, joinParts(parts), acknowledgedBy) }
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
    if (group !== undefined && startOf(group) - AGAIN_MS < fromMs) group = await this.#withStart(group)
    const [cause] = group ?? []
    if (group === undefined || cause === undefined) return undefined
    const stated = await hintHistory.statements(new Set([cause.event]), cause.sinceMs - 1, Math.min(toMs, nowMs))
    const momentOf = ({ measured_ms: atMs, sentence, value }: Statement): IncidentMoment => ({ atMs, sentence, value })
    const [opened] = stated.map(momentOf)
    // A rule may measure another quantity later, such as errors instead of an error ratio: these do not compare.
    const alike = stated.filter(({ unit }) => unit === cause.unit).map(momentOf)
    return {
      incident: hintIncident(node, group, acknowledgedBy),
      ...(opened === undefined ? {} : { opened }),
      peak: worstOf([...alike, { atMs: cause.measuredMs, sentence: cause.sentence, value: cause.value }], cause),
    }
  }

  #numberOf(id: string): bigint | undefined {
    const at = id.lastIndexOf(':')
    const number = id.slice(at + 1)
    return id.slice(0, at) === this.#options.node && /^[1-9]\d{0,19}$/.test(number) ? BigInt(number) : undefined
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

/** Incidents that end before this time may have hints that were not read. */
function leastEnd(readFromMs: number, window: HintWindow): number {
  return readFromMs > window.fromMs ? readFromMs + LOOK_AHEAD_MS : Number.NEGATIVE_INFINITY
}

function startOf(group: readonly Hint[]): number {
  return group.reduce((least, { sinceMs }) => Math.min(least, sinceMs), Number.POSITIVE_INFINITY)
}

function endOf(group: readonly Hint[]): { readonly toMs?: number } {
  const isOpen = group.some(({ endedMs }) => endedMs === undefined)
  return isOpen ? {} : { toMs: group.reduce((last, { endedMs = 0 }) => Math.max(last, endedMs), 0) }
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
