import type { Labels, RecordType, TypeDefinition } from '@sonde/sdk'
import type { LeftOutStretch } from '@sonde/sdk/api'

/** A stretch without samples. */
export interface KeptGap {
  readonly fromMs: number
  readonly toMs: number
  readonly samples: number
}

/** A series that has samples in the file. */
export interface KeptSeries {
  /** Index of its part. */
  readonly part: number
  /** Values of its label fields, as its records have them. */
  readonly key: readonly number[]
  readonly labels: Labels
  /** Id in the list of devices; what labels say where the list does not have it. */
  readonly device: string
  readonly deviceName: string
  readonly kind: string
  /** 0: of the device of the event. 1: of one that belongs to it. 2: of the rest of the node. */
  readonly near: number
  /** Labels that tell it from other series of its type and device. */
  readonly apart: readonly string[]
  /** How far each signal moved, a digit a slot of the type: 0 not at all, 1 as it does, from 2 on farther. */
  readonly moves: string
  readonly samples: number
  readonly fromMs: number
  readonly toMs: number
  readonly resolutionMs: number
  readonly errorMs: number
  readonly gaps: readonly KeptGap[]
}

/** Records of one type of one source. */
export interface KeptPart {
  readonly source: string
  readonly fingerprint: string
  readonly definition: TypeDefinition
  readonly isRing: boolean
}

/** A block of records: its part, place and size in bytes, records, and their first and last time in nanoseconds. */
export type KeptBlock = readonly [part: number, at: number, bytes: number, count: number, fromNs: string, toNs: string]

/** What is in the file of an event, beside the event. */
export interface KeptIndex {
  readonly parts: readonly KeptPart[]
  readonly blocks: readonly KeptBlock[]
  readonly series: readonly KeptSeries[]
  /** Signal of the rule; absent if it is not known. */
  readonly signal?: IndexSignal
  /** Signals that the file of rules lists. */
  readonly listed: readonly IndexSignal[]
  /** Stretches that the size of the event left out. */
  readonly leftOut: readonly LeftOutStretch[]
}

/** A signal, wherever it is. */
export interface IndexSignal {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** What a reader of an event needs. */
export interface ReadIndex extends KeptIndex {
  /** Types of the parts, in their order. */
  readonly types: readonly RecordType[]
}
