import type {
  Clock,
  PageId,
  QueryAnswer,
  QueryRequest,
  SymbolsItem,
  TypeDefinition,
  TypeDescription,
} from '@sonde/sdk/internal'
import type { AnswerPart } from './answer-parts.ts'
import type { StoreSettings } from './config.ts'

/** Records of one batch inside a page. */
export interface PageEntry {
  /** Key of the type and of the writer, as announced. */
  readonly type: number
  readonly writer: number
  readonly clock: Clock
  readonly count: number
  /** Where its bytes start in the page. Always a multiple of 8. */
  readonly offset: number
  readonly arrivalMs: number
  /** Where its batch came in a page of a client. */
  readonly page?: PageId
}

/**
 * Batches on their way to the disk: written and acknowledged together. The memory is shared, so that nothing is copied
 * again.
 */
export interface Page {
  /**
   * Rises by one from 1; stored with the data and the session, so that after a crash of the worker no page is written
   * twice.
   */
  readonly sequence: number
  /** Stays the same when it is sent again. */
  readonly id: number
  /** The last page that was acknowledged when it was sent. */
  readonly afterAcked: number
  readonly memory: SharedArrayBuffer
  readonly entries: readonly PageEntry[]
}

/** Who made records, as it is stored. */
export interface SourceDescriptor {
  readonly id: string
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
}

/** What the worker must know to read a page; sent before or with the first page that needs it. */
export interface Announcement {
  readonly types: readonly {
    readonly key: number
    /** As JSON. */
    readonly definition: string
    readonly fingerprint: string
  }[]
  readonly writers: readonly {
    readonly key: number
    readonly source: SourceDescriptor
    /** The client that brings it; undefined if it is of this process. */
    readonly client: bigint | undefined
  }[]
  /** What tables of writers gained; `source` is the key of the writer. */
  readonly symbols: readonly SymbolsItem[]
  /** Keys of types and writers to which no page refers any more. */
  readonly gone: readonly number[]
}

/** Clients whose last page is remembered; beyond, those that were silent longest leave. */
export const CLIENT_COUNT_LIMIT = 10_000
/** A client that was silent this long does not send again what it sent before: it is forgotten. Unit: milliseconds. */
export const CLIENT_KEPT_MS = 7 * 86_400_000

/** The last page of a client that the file holds. */
export type ClientPage = readonly [client: bigint, sequence: bigint]

/** Which records to read back. */
export interface RecordsRequest {
  /** Name of the type. */
  readonly type: string
  /** Times in milliseconds since the Unix epoch: records in `(fromMs, toMs]`. */
  readonly fromMs: number
  readonly toMs: number
  /** Records at most. Default: 10 000. */
  readonly recordLimit?: number
}

/** Which types to list. */
export interface TypesRequest {
  /** Names that the caller knows already. */
  readonly except: readonly string[]
}

/** Types of which records are kept, the oldest first. */
export interface StoredTypes {
  readonly types: readonly TypeDescription[]
  /** Types for which the list has no room. */
  readonly leftOut: number
}

/** Records as they were reported, with what is needed to read them. */
export interface StoredBatch {
  readonly type: TypeDefinition
  readonly source: SourceDescriptor
  readonly clock: Clock
  /** Labels and texts of its records, by the ids in `bytes`. */
  readonly texts: readonly string[]
  readonly count: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What the worker says of the file. */
export interface FileStatus {
  readonly state: 'writing' | 'failing'
  /** A sentence: why it fails, or what happened to an earlier file; empty if there is nothing to say. */
  readonly reason: string
  /** Size on disk, write-ahead log included. */
  readonly bytes: number
  /** Part of `bytes` that is free for reuse. */
  readonly freeBytes: number
  /** Time of the first record that is kept; `null` while there is none. Unit: milliseconds since the Unix epoch. */
  readonly oldestMs: number | null
  /** Stored chunks that could not be read since the start. */
  readonly corruptChunks: number
  /** Times a write or a read of the file failed since the start. */
  readonly errors: number
  /** Records of the head. Unit: bytes. */
  readonly backlogBytes: number
  /** Part of the time in which it writes that the thread computes; undefined if it is not known. Range: 0 to 1. */
  readonly processorPart: number | undefined
  /** What is held in memory, by what it names. */
  readonly names: Readonly<Record<string, number>>
}

/** What the worker is started with. */
export interface WorkerStart {
  readonly settings: StoreSettings
  /** Names the process that writes. */
  readonly session: string
  /**
   * `refuse`: a file that another process has open ends the worker. `wait`: it is tried again, as after a worker that
   * died.
   */
  readonly whenLocked: 'refuse' | 'wait'
}

export type ToWorker =
  /** `opening` repeats that of the worker's `opened`: a page that was meant for an earlier opening is not written. */
  | { readonly kind: 'page'; readonly opening: number; readonly page: Page; readonly announcement: Announcement }
  | { readonly kind: 'query'; readonly id: number; readonly request: QueryRequest }
  | { readonly kind: 'records'; readonly id: number; readonly request: RecordsRequest }
  | { readonly kind: 'types'; readonly id: number; readonly request: TypesRequest }
  /** The next part of an answer may come. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'maintain'; readonly id: number }
  | { readonly kind: 'close' }

/** What became of a page. */
export interface Written {
  /** Records that had no room, by reason. */
  readonly dropped: readonly (readonly [reason: string, records: number])[]
  /** Records of pages of clients that the file had already. */
  readonly duplicates: number
  /** Records of what was dropped that came in pages of clients. */
  readonly lost: readonly (readonly [page: PageId, records: number])[]
  /** The clients of which it holds records. */
  readonly clients: readonly ClientPage[]
  /** Clients of whose records none were written, because they bring too many new names: they are sent again. */
  readonly behind: readonly bigint[]
}

/** What the worker answers to a question; undefined to upkeep. */
export type Answer = QueryAnswer | readonly StoredBatch[] | StoredTypes | undefined

export type FromWorker =
  /**
   * The file is open and nothing is known of what was announced; `sequence` is the last page of this session that it
   * holds, `clients` those of all clients.
   */
  | {
      readonly kind: 'opened'
      readonly opening: number
      readonly sequence: number
      readonly clients: readonly ClientPage[]
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | ({ readonly kind: 'acked'; readonly sequence: number } & Written)
  | { readonly kind: 'status'; readonly status: FileStatus }
  /** Of a large answer, before it: the next is sent when it is asked for, so that no turn of the main loop is long. */
  | { readonly kind: 'part'; readonly id: number; readonly part: AnswerPart }
  | { readonly kind: 'answer'; readonly id: number; readonly result: Answer }
  | { readonly kind: 'failed'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'closed' }
