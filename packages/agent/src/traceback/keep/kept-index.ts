import type { Labels, RecordType } from '@sonde/sdk'
import type { LeftOutStretch } from '@sonde/sdk/api'
import type { TypeDefinition } from '@sonde/sdk/internal'

/** A time span without samples. */
export interface KeptGap {
  readonly fromMs: number
  readonly toMs: number
  readonly samples: number
}

/** A series with samples in the file. */
export interface KeptSeries {
  /** Index of its part. */
  readonly part: number
  /** Values of its label fields, as in its records. */
  readonly key: readonly number[]
  readonly labels: Labels
  /** Id in the list of devices; the device label if the list does not have it. */
  readonly device: string
  readonly deviceName: string
  readonly kind: string
  /** 0: the event's device. 1: a device that belongs to it. 2: the rest of the node. */
  readonly near: number
  /** Labels that distinguish it from other series of its type and device. */
  readonly apart: readonly string[]
  /**
   * Movement of each signal, a digit for each slot of the type: 0 for none, 1 for the usual movement, 2 and more for
   * farther.
   */
  readonly moves: string
  readonly samples: number
  readonly fromMs: number
  readonly toMs: number
  readonly resolutionMs: number
  readonly errorMs: number
  readonly gaps: readonly KeptGap[]
}

/** Records of one type and source. */
export interface KeptPart {
  readonly source: string
  readonly fingerprint: string
  readonly definition: TypeDefinition
  readonly isRing: boolean
}

/**
 * A block of records: its part, offset and size in bytes, number of records, and their first and last time in
 * nanoseconds.
 */
export type KeptBlock = readonly [part: number, at: number, bytes: number, count: number, fromNs: string, toNs: string]

/** Content of an event's file, besides the event. */
export interface KeptIndex {
  readonly parts: readonly KeptPart[]
  readonly blocks: readonly KeptBlock[]
  readonly series: readonly KeptSeries[]
  /** Signal of the rule; absent if unknown. */
  readonly signal?: IndexSignal
  /** Signals that the file of rules lists. */
  readonly listed: readonly IndexSignal[]
  /** Time spans that the size limit of the event left out. */
  readonly leftOut: readonly LeftOutStretch[]
}

/** A signal on any device. */
export interface IndexSignal {
  readonly type: string
  readonly field: string
  readonly labels: Labels
}

/** The index for a reader of an event. */
export interface ReadIndex extends KeptIndex {
  /** Types of the parts, in their order. */
  readonly types: readonly RecordType[]
}
