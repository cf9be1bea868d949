import type { RecordType } from './record-type.ts'
import type { Symbols } from './symbols.ts'
import type { BatchSymbols } from './texts.ts'

/** Which clock the timestamps of a batch were read from. */
export type Clock = 'wall' | 'monotonic' | 'device'

/**
 * How records came here. `own`: a source of this process, or of a host that it started, made them. `client`: an
 * application handed them in. `replay`: they were read from where they are kept.
 */
export type Origin = 'own' | 'client' | 'replay'

/** Who made the records. One object per source for as long as it lives: views key on its identity. */
export interface SourceInfo {
  /** Name of the source, in the agent that of its configuration. */
  readonly id: string
  /** Free text of the owner; part of file names and default labels. */
  readonly tag: string
  /** Constant labels that every series of this source carries, beside the label fields of the record. */
  readonly labels: Readonly<Record<string, string>>
  /** Name of the host on which the records were made. Default: this host. */
  readonly host?: string
  /** Of labels. Records are read with the `symbols` of their batch, which also knows the texts of text fields. */
  readonly symbols: Symbols
  /**
   * Whose series these are: the same object for a source and for the one that replaces it, with a table of its own.
   * Views move the rows of the one to the other. Left out where a source is never replaced.
   */
  readonly owner?: object
  /**
   * Which life of its host made it: rises by one with each host that replaces another. A whole type that is gone takes
   * the series of this life and of those before it out of every view. Default: 0.
   */
  readonly life?: number
}

/** What a source is known by, whichever table it has now: see `owner` of {@link SourceInfo}. */
export function ownerOf(source: SourceInfo): object {
  return source.owner ?? source
}

/** Which life of its host a source belongs to: see `life` of {@link SourceInfo}. */
export function lifeOf(source: SourceInfo): number {
  return source.life ?? 0
}

/**
 * Which page of which client a batch came in. A page that is sent again bears the same; sinks that are durable store it
 * with the records, and drop what they have already.
 */
export interface PageId {
  /** Random, of one client for as long as its process lives. 64 bits, never 0. */
  readonly client: bigint
  /** Rises by one from 1 over all pages of a client. */
  readonly sequence: bigint
}

/**
 * Many packed records of one type from one source: the only thing that moves between rooms, workers and processes.
 * `bytes` is valid during the call; who keeps it copies it once.
 */
export interface Batch {
  readonly type: RecordType
  readonly source: SourceInfo
  readonly clock: Clock
  /** Records in `bytes`. */
  readonly count: number
  /** `count * type.layout.recordBytes` bytes, little-endian. */
  readonly bytes: Uint8Array
  /**
   * What the ids in the records mean: `readRecords` is given it. Not only during the call: whoever keeps the bytes
   * keeps this with them.
   */
  readonly symbols: BatchSymbols
  /**
   * The CRC-32 of `bytes` where somebody computed it on the way; left out else. It is of no other bytes: a batch that
   * is made of a part of another may keep it, for it holds only if both are the same object.
   */
  readonly checksum?: { readonly bytes: Uint8Array; readonly crc32: number } | undefined
  /** Where it came in a page of a client; left out where it did not. */
  readonly page?: PageId
  readonly origin: Origin
  /**
   * When it came here, stamped once, by whoever made this object: `performance.now()` of this process, which a batch
   * never leaves. Views order, evict and expire by it: the times in the records are data.
   */
  readonly arrivedMs: number
}
