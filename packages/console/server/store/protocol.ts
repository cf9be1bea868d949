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
  /** Offset of its bytes in the page; a multiple of 8. */
  readonly offset: number
  readonly arrivalMs: number
  /** Position of its batch in a page of a client. */
  readonly page?: PageId
}

/**
 * Batches that are written and acknowledged together. The memory is shared, so that nothing is copied again.
 */
export interface StorePage {
  /**
   * Rises by one from 1. It is stored with the data and the session, so that no page is written twice after a crash of
   * the worker.
   */
  readonly sequence: number
  /** Does not change when the page is sent again. */
  readonly id: number
  /** The last acknowledged page at the time of sending. */
  readonly afterAcked: number
  readonly memory: SharedArrayBuffer
  readonly entries: readonly PageEntry[]
}

/** The stored origin of records. */
export interface SourceDescriptor {
  readonly id: string
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
}

/** The names that the worker needs to read a page; sent before or with the first page that uses them. */
export interface Announcement {
  readonly types: readonly {
    readonly key: number
    /** In JSON. */
    readonly definition: string
    readonly fingerprint: string
  }[]
  readonly writers: readonly {
    readonly key: number
    readonly source: SourceDescriptor
    /** The client that reports it; undefined for this process. */
    readonly client: bigint | undefined
  }[]
  /** New entries of the tables of writers; `source` is the key of the writer. */
  readonly symbols: readonly SymbolsItem[]
  /** Keys of types and writers that no page uses any more. */
  readonly gone: readonly number[]
}

/** Number of clients whose last page is remembered; beyond, those that were silent longest are forgotten. */
export const CLIENT_COUNT_LIMIT = 10_000
/** A client that was silent this long will not send old pages again, so it is forgotten. Unit: milliseconds. */
export const CLIENT_KEPT_MS = 7 * 86_400_000

/** The last page of a client in the file. */
export type ClientPage = readonly [client: bigint, sequence: bigint]

/** The records to read back. */
export interface RecordsRequest {
  /** Name of the type. */
  readonly type: string
  /** Times in milliseconds since the Unix epoch: records in `(fromMs, toMs]`. */
  readonly fromMs: number
  readonly toMs: number
  /** Largest number of records. Default: 10 000. */
  readonly recordLimit?: number
}

/** The types to list. */
export interface TypesRequest {
  /** Names that the caller already knows. */
  readonly except: readonly string[]
}

/** Types with stored records, the oldest first. */
export interface StoredTypes {
  readonly types: readonly TypeDescription[]
  /** Number of types beyond the limit of the list. */
  readonly leftOut: number
}

/** Records as they were reported, with all that is needed to read them. */
export interface StoredBatch {
  readonly type: TypeDefinition
  readonly source: SourceDescriptor
  readonly clock: Clock
  /** Labels and texts of its records, by the ids in `bytes`. */
  readonly texts: readonly string[]
  readonly count: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Metric names of the history that no type of this process has any more. */
export interface EndedNames {
  readonly count: number
  /** Some of them. */
  readonly examples: readonly string[]
}

/** State of the file, as the worker reports it. */
export interface FileStatus {
  readonly state: 'writing' | 'failing'
  /** A sentence: why it fails, or what happened to an earlier file; may be empty. */
  readonly reason: string
  /** Size on disk, including the write-ahead log. */
  readonly bytes: number
  /** Part of `bytes` that is free for reuse. */
  readonly freeBytes: number
  /** Time of the first stored record; `null` if there is none. Unit: milliseconds since the Unix epoch. */
  readonly oldestMs: number | null
  /** Stored chunks that could not be read since the start. */
  readonly corruptChunks: number
  /** Failed writes and reads of the file since the start. */
  readonly errors: number
  /** Size of the records of the head. Unit: bytes. */
  readonly backlogBytes: number
  /** Share of computing in the thread's writing time; undefined if unknown. Range: 0 to 1. */
  readonly processorPart: number | undefined
  /** Number of names in memory, by their kind. */
  readonly names: Readonly<Record<string, number>>
}

/** Options of the worker at its start. */
export interface WorkerStart {
  readonly settings: StoreSettings
  /** Identifies the process that writes. */
  readonly session: string
  /**
   * `refuse`: if another process has the file open, the worker ends. `wait`: the worker tries again, for example after
   * a previous worker died.
   */
  readonly whenLocked: 'refuse' | 'wait'
}

export type ToWorker =
  /** `opening` repeats the number from the worker's `opened` message: a page for an earlier opening is not written. */
  | { readonly kind: 'page'; readonly opening: number; readonly page: StorePage; readonly announcement: Announcement }
  | { readonly kind: 'query'; readonly id: number; readonly request: QueryRequest }
  | { readonly kind: 'records'; readonly id: number; readonly request: RecordsRequest }
  | { readonly kind: 'types'; readonly id: number; readonly request: TypesRequest }
  /** Requests the next part of an answer. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'maintain'; readonly id: number }
  | { readonly kind: 'close' }

/** The result of a page. */
export interface Written {
  /** Dropped records, by reason. */
  readonly dropped: readonly (readonly [reason: string, records: number])[]
  /** Records in pages of clients that the file already had. */
  readonly duplicates: number
  /** Dropped records that came in pages of clients. */
  readonly lost: readonly (readonly [page: PageId, records: number])[]
  /** The clients of its records. */
  readonly clients: readonly ClientPage[]
  /** Clients with too many new names. None of their records were written, and they are sent again. */
  readonly behind: readonly bigint[]
}

/** The answer of the worker to a question; undefined for upkeep. */
export type StoredAnswer = QueryAnswer | readonly StoredBatch[] | StoredTypes | undefined

export type FromWorker =
  /**
   * The file is open, and no names are known yet. `sequence` is the last page of this session in the file, `clients`
   * the last pages of all clients.
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
  | { readonly kind: 'ended'; readonly ended: EndedNames }
  /**
   * A part of a large answer, sent before the answer. Each part is sent on request, so that no turn of the main loop is
   * long.
   */
  | { readonly kind: 'part'; readonly id: number; readonly part: AnswerPart }
  | { readonly kind: 'answer'; readonly id: number; readonly result: StoredAnswer }
  | { readonly kind: 'failed'; readonly id: number; readonly code: string; readonly message: string }
  | { readonly kind: 'closed' }
