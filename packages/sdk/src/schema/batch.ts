import type { RecordType } from './record-type.ts'
import type { Symbols } from './symbols.ts'
import type { BatchSymbols } from './texts.ts'

/** The clock of the timestamps of a batch. */
export type Clock = 'wall' | 'monotonic' | 'device'

/**
 * The origin of records. `own`: a source of this process, or of a host that it started. `client`: an application.
 * `replay`: a file, a recording or the store.
 */
export type Origin = 'own' | 'client' | 'replay'

/** The identity of a source. One object for the life of a source: views use it as a key. */
export interface SourceInfo {
  /** Name of the source; in the agent, its name in the configuration. */
  readonly id: string
  /** Free text of the owner; part of file names and default labels. */
  readonly tag: string
  /** Constant labels of every series of this source, beside the label fields of its records. */
  readonly labels: Readonly<Record<string, string>>
  /** Name of the host on which the records were made. Default: this host. */
  readonly host?: string
  /** Symbols of labels. To read records, use the `symbols` of their batch, which also has the texts of text fields. */
  readonly symbols: Symbols
  /**
   * The owner of the series: a source and its successor, which has a symbol table of its own, share this object. Views
   * move the rows of the source to its successor. Absent if a source is never replaced.
   */
  readonly owner?: object
  /**
   * The life of the host: rises by one when a host replaces another. If a whole type is gone, every view drops the
   * series of this life and of earlier lives. Default: 0.
   */
  readonly life?: number
}

/** The owner of the series of a source: see `owner` of {@link SourceInfo}. */
export function ownerOf(source: SourceInfo): object {
  return source.owner ?? source
}

/** The life of the host of a source: see `life` of {@link SourceInfo}. */
export function lifeOf(source: SourceInfo): number {
  return source.life ?? 0
}

/**
 * The page of a client in which a batch came. A repeated page has the same id. Durable sinks store the id with the
 * records and skip pages that they already have.
 */
export interface PageId {
  /** Random id of a client for the life of its process. 64 bits, never 0. */
  readonly client: bigint
  /** Number of the page, from 1, without gaps. */
  readonly sequence: bigint
}

/**
 * Many packed records of one type from one source. Only batches move between rooms, workers and processes. `bytes` is
 * valid during the call; a receiver that keeps it copies it once.
 */
export interface Batch {
  readonly type: RecordType
  readonly source: SourceInfo
  readonly clock: Clock
  /** Number of records in `bytes`. */
  readonly count: number
  /** `count * type.layout.recordBytes` bytes, little-endian. */
  readonly bytes: Uint8Array
  /**
   * The texts of the ids in the records; pass it to `readRecords`. It stays valid: a receiver that keeps the bytes
   * keeps this object with them.
   */
  readonly symbols: BatchSymbols
  /**
   * The CRC-32 of a bytes object, if it was computed on the way. It applies only if that object is the same as `bytes`,
   * so a batch made from a part of another batch may keep it.
   */
  readonly checksum?: { readonly bytes: Uint8Array; readonly crc32: number } | undefined
  /** The page of a client in which it came; absent if it came in none. */
  readonly page?: PageId
  readonly origin: Origin
  /**
   * Time of arrival: `performance.now()` of this process when the object was made. Views order, evict and expire by it,
   * because the times in the records are data.
   */
  readonly arrivedMs: number
}
