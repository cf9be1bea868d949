import type { Labels } from '../schema/series.ts'
import type { EventEnd, TracebackEvent, WatchingRule } from './events.ts'
import type { Hint, HintOutcome, HintSeverity, HintSpan, HintsUnknown, HintWindow } from './hints.ts'

// Answers of `GET /api/v1/incidents` and its children, for the agent and the page. Times are milliseconds since the
// Unix epoch.

/** What opened an incident: a rule of hints, or a rule of traceback. */
export type IncidentKind = 'hint' | 'event'

/** Something that happened to a node: all hints of one cause, or an event of traceback. */
export interface Incident {
  /** Node and number, with a colon between them: the same in every window and after every restart. */
  readonly id: string
  readonly node: string
  readonly kind: IncidentKind
  readonly state: 'open' | 'ended'
  /** The worst severity of its hints; `warning` for an event, because rules of traceback have none. */
  readonly severity: HintSeverity
  readonly rule: string
  /** Device of the cause, as in its hint or event. */
  readonly device: string
  readonly title: string
  readonly sentence: string
  readonly startMs: number
  /** When it ended; absent while it is open. */
  readonly endMs?: number
  /** How its cause ended; there with `endMs`. */
  readonly end?: HintOutcome | EventEnd
  /** Devices that show the effect without being the cause. */
  readonly affected: readonly string[]
  readonly isSimulated: boolean
  /** The cause first, then its effects. In a past window: their states at its end. Empty for an event. */
  readonly hints: readonly Hint[]
  /** Effects beyond the 100 hints of an answer; absent if there are none. */
  readonly moreHintCount?: number
  /** Absent for hints. */
  readonly event?: TracebackEvent
  /** The first acknowledgement; absent if there is none. */
  readonly acknowledged?: IncidentNote
}

/** A copy of the window of an incident, which stays when the history removes it. */
export interface IncidentPin {
  readonly atMs: number
  /** Name of the session; empty if nobody needs to log in. */
  readonly who: string
  readonly records: number
  /** Size of the records. */
  readonly bytes: number
  /** Whether a limit left records out. */
  readonly isCut: boolean
  /** The shell command that prints the records. */
  readonly command: string
}

/** What a person wrote on an incident. */
export interface IncidentNote {
  readonly atMs: number
  /** Name of the session; empty if nobody needs to log in. */
  readonly who: string
  readonly text: string
}

/** The state of the rules of traceback. */
export interface IncidentRules {
  /** Rules that watch, each with 256 of its devices at most; empty if traceback is not configured. */
  readonly watching: readonly WatchingRule[]
  /** Why a file of rules is not in use; absent if it is. */
  readonly fault?: string
  /** Events that the limit of a minute, or of open events, left out since the start. */
  readonly limited: number
  /** Events that made room for others, since the start. */
  readonly removed: number
}

/** What `GET /api/v1/incidents?from=&to=&device=&rule=&severity=&kind=&state=&find=&limit=&cursor=` answers. */
export interface IncidentsAnswer {
  readonly nowMs: number
  /** The window of the answer. */
  readonly fromMs: number
  readonly toMs: number
  /** Open incidents first, the worst of them first; then those that ended last. */
  readonly incidents: readonly Incident[]
  /** The cursor of the next answer; absent if there are no more incidents. */
  readonly next?: string
  /** Open incidents of the node, whether or not they match. */
  readonly openCount: number
  /** How many rules of hints watch. */
  readonly rules: number
  /** Names of rules of hints without any signal on this node. */
  readonly blind: readonly string[]
  /** Parts of the window without known hints, in order. Empty if all is known. */
  readonly unknown: readonly HintsUnknown[]
  /** Contents that cannot be shown; absent if there are none. */
  readonly unshown?: IncidentsUnshown
  readonly traceback: IncidentRules
}

/** Records and files of incidents that are damaged, or that another version of Sonde wrote. */
export interface IncidentsUnshown {
  readonly count: number
  /** What is not shown and why, as a sentence. */
  readonly reason: string
}

/** The numbers of an incident at a moment. */
export interface IncidentMoment {
  readonly atMs: number
  readonly sentence: string
  readonly value: number
}

/** What `GET /api/v1/incidents/:id` answers. */
export interface IncidentAnswer {
  readonly nowMs: number
  readonly incident: Incident
  /** From two minutes before it began to two minutes after it ended, or to now. */
  readonly window: HintWindow
  /** When it opened; absent for an event, or if its records are gone. */
  readonly opened?: IncidentMoment
  /** When it was worst. */
  readonly peak?: IncidentMoment
  readonly notes: readonly IncidentNote[]
  /** Absent if it is not pinned. */
  readonly pin?: IncidentPin
  /** Parts of the window without samples, in order; absent if there are none. */
  readonly unknown?: readonly HintsUnknown[]
  /** Sentences about lost parts, such as the device or the rule. Absent if the node still has all parts. */
  readonly gone?: readonly string[]
}

/** What `GET /api/v1/pins` answers. */
export interface PinsAnswer {
  /** Pinned incidents, the latest pins first. */
  readonly pins: readonly (IncidentPin & { readonly incident: Incident })[]
}

/** A signal that moved when an incident began. */
export interface MovedSignal {
  readonly metric: string
  /** A counter is its increase a second. */
  readonly function: 'rate' | 'last'
  readonly role: 'counter' | 'gauge'
  readonly unit: string
  readonly labels: Labels
  /** Id of its device; empty if it belongs to none. */
  readonly device: string
  /** Median of the two minutes before the onset, and of the minute after it. */
  readonly before: number
  readonly after: number
  /** The change in robust deviations of the time before. */
  readonly score: number
  /** Further series of the metric that moved. */
  readonly moreCount?: number
}

/** What `GET /api/v1/incidents/:id/moved` answers. */
export interface MovedAnswer {
  readonly onsetMs: number
  /** The signals that moved farthest, one for each metric; without those of the evidence. */
  readonly signals: readonly MovedSignal[]
  /** What moved on each device, that at fault first, evidence included. */
  readonly devices: readonly { readonly device: string; readonly signals: readonly MovedSignal[] }[]
  /** Number of metrics that were compared. Limits left out `leftOut` others. */
  readonly examined: number
  readonly leftOut: number
}

/** Time before and after an incident that its page shows. Unit: milliseconds. */
export const INCIDENT_MARGIN_MS = 120_000

/** When an incident held. */
export function spanOfIncident({ startMs, endMs }: Pick<Incident, 'startMs' | 'endMs'>): HintSpan {
  return { fromMs: startMs, ...(endMs === undefined ? {} : { toMs: endMs }) }
}

/**
 * Whether something is in a window: it began at the end of the window or before, and had not ended before the window
 * began. Server and page decide by this alone.
 */
export function isInWindow(span: HintSpan, { fromMs, toMs }: HintWindow): boolean {
  return span.fromMs <= toMs && (span.toMs === undefined || span.toMs >= fromMs)
}
