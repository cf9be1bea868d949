import type { Labels } from '../schema/series.ts'
import type { SourceState } from './sources.ts'

/** State of traceback in a running agent, as `/api/v1/traceback` reports it. Times are milliseconds since the epoch. */
export interface TracebackAnswer {
  /** The file of rules; empty if none is configured. */
  readonly path: string
  /** When the rules in effect were read; 0 if none are. */
  readonly takenMs: number
  /** How often a set of rules came into effect since the start. */
  readonly takenCount: number
  /** Why the current file is not in use; empty if it is in use. */
  readonly fault: string
  readonly ruleCount: number
  readonly signalCount: number
  /** The first signals that rules watch and no series matches. */
  readonly missing: readonly string[]
  readonly missingCount: number
  readonly folder: FolderFacts
  readonly openCount: number
  /** Events that limits left out since the start. */
  readonly limited: number
  /** Records of series beyond the limit of watched series, since the start. */
  readonly refused: number
  /** The named rule; absent if no name was given or no rule has that name. */
  readonly rule?: RuleFacts
  /** Names similar to an unknown name. */
  readonly nearest?: readonly string[]
}

/** The folder of events. */
export interface FolderFacts {
  readonly dir: string
  readonly bytes: number
  readonly bytesMax: number
  readonly events: number
  readonly eventsMax: number
  /** Events that were removed to make space, and events that could not be kept, since the start. */
  readonly removed: number
  readonly failed: number
}

/** One rule. */
export interface RuleFacts {
  readonly name: string
  /** Its position in the file, from 1. */
  readonly number: number
  readonly condition: string
  /** Rules that it combines; absent if it watches a signal. */
  readonly combines?: readonly string[]
  readonly signal?: {
    readonly name: string
    readonly type: string
    readonly field: string
    readonly labels: Labels
  }
  /** Running sources that have the type of the signal. */
  readonly sources: readonly RuleSource[]
  /** The first series that it watches. */
  readonly places: readonly RulePlace[]
  readonly placeCount: number
  /** Whether any source or application reports the type of the signal. */
  readonly isTypeLive: boolean
  readonly hasField: boolean
  /** Labels of the type's series if no series has those of the signal. */
  readonly others: readonly string[]
  /** Reasons for values that are absent now. */
  readonly absent: readonly string[]
  /** The source or application that reported the last series and left. */
  readonly left?: { readonly who: string; readonly atMs: number }
  /** Its last known event. */
  readonly last?: { readonly event: number; readonly device: string; readonly startMs: number; readonly endMs?: number }
}

/** A source that has the type of a signal. */
export interface RuleSource {
  readonly name: string
  /** Where it is sampled: `agent`, `worker`, or a process of a library. */
  readonly host: string
  readonly state: SourceState
  readonly reason: string
  /** Time between two samples that rules see, as the source reports it; null if unknown. Unit: milliseconds. */
  readonly everyMs: number | null
  /** Why its rules cannot watch; empty if they can. */
  readonly fault: string
}

/** A series that a rule watches. */
export interface RulePlace {
  readonly device: string
  readonly source: string
  /** The application that reports it; empty for a source of the agent. */
  readonly app: string
  /** Whether a ring of samples is watched in the source's host; otherwise rules see the reported records. */
  readonly isRing: boolean
  /** When the last sample arrived; 0 if none arrived. */
  readonly seenMs: number
  /** Its last exact value as text; null if unknown or absent. */
  readonly value: string | null
}
