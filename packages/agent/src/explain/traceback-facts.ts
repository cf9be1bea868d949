import type { Labels } from '@sonde/sdk'
import type { SourceState } from '../hosting/source-status.ts'

/** How traceback fares in a running agent, as `/api/v1/traceback` tells it. Times are milliseconds since the epoch. */
export interface TracebackFacts {
  /** The file of rules; empty if none is configured. */
  readonly path: string
  /** When the rules in effect were read; 0 if none are. */
  readonly takenMs: number
  /** How often rules were taken into effect since the start. */
  readonly takenCount: number
  /** Why the file as it is now is not in use; empty if it is. */
  readonly fault: string
  readonly ruleCount: number
  readonly signalCount: number
  /** Signals that rules watch and nothing has, the first of them. */
  readonly missing: readonly string[]
  readonly missingCount: number
  readonly folder: FolderFacts
  readonly openCount: number
  /** Events that limits left out since the start. */
  readonly limited: number
  /** Records of series for which rules had no room since the start. */
  readonly refused: number
  /** The rule that was asked for; absent if none was, and where there is none. */
  readonly rule?: RuleFacts
  /** Names like one that was asked for and is none. */
  readonly nearest?: readonly string[]
}

/** The folder of events. */
export interface FolderFacts {
  readonly dir: string
  readonly bytes: number
  readonly bytesMax: number
  readonly events: number
  readonly eventsMax: number
  /** Events that made room for others, and such as could not be kept, since the start. */
  readonly removed: number
  readonly failed: number
}

/** One rule. */
export interface RuleFacts {
  readonly name: string
  /** Its place in the file, from 1. */
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
  /** Sources that have the type of the signal, and run. */
  readonly sources: readonly RuleSource[]
  /** What it watches, the first of it. */
  readonly places: readonly RulePlace[]
  readonly placeCount: number
  /** Whether the type of the signal is known, whoever reports it; and whether it has the field. */
  readonly isTypeLive: boolean
  readonly hasField: boolean
  /** Labels of series of that type, where none has those of the signal. */
  readonly others: readonly string[]
  /** Reasons for values that are absent now. */
  readonly absent: readonly string[]
  /** Who reported the last series and left. */
  readonly left?: { readonly who: string; readonly atMs: number }
  /** Its last event that is known. */
  readonly last?: { readonly event: number; readonly device: string; readonly startMs: number; readonly endMs?: number }
}

/** A source that has the type of a signal. */
export interface RuleSource {
  readonly name: string
  /** Where its samples are made: `agent`, `worker`, or a process of a library. */
  readonly host: string
  readonly state: SourceState
  readonly reason: string
  /** Between two samples that rules see, as the source says; null if it does not. Unit: milliseconds. */
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
  /** Whether a ring of samples is watched in its host; else records are as they are reported. */
  readonly isRing: boolean
  /** When the last sample came; 0 if none did. */
  readonly seenMs: number
  /** Its last value, exact, as text; null if it is not known or absent. */
  readonly value: string | null
}
