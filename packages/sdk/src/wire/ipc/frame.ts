import type { Clock } from '../../schema/batch.ts'

/** Version of the protocol; the two sides must agree. */
export const IPC_PROTOCOL = 3

/** u32 bytes that follow the header, u8 kind, u8 flags, u16 0, u32 sequence of the frame; little-endian. */
export const FRAME_HEADER_BYTES = 12
/** What precedes the bytes of a page in its frame. */
export const PAGE_HEADER_BYTES = 32
/** What a page frame may be longer than `limits.pageBytes`. */
export const PAGE_OVERHEAD_BYTES = 64
/** Payload of a frame of symbols, at most. Unit: bytes. */
export const SYMBOLS_BYTES_MAX = 1 << 20
/** Payload of a frame of types, at most: 1024 fields, each with a description of 300 characters. Unit: bytes. */
export const TYPES_BYTES_MAX = 512 << 10
/** Payload of any other frame of JSON, at most. Unit: bytes. */
export const JSON_BYTES_MAX = 64 << 10
/** No definition nests deeper, and JSON that does costs its reader many times the time that its bytes take. */
export const JSON_DEPTH_MAX = 32
/**
 * Limit of lists, objects and members in one frame, which determine the time to parse it: 1024 fields with all their
 * properties.
 */
export const JSON_NODES_MAX = 20_000

/** The last page that a client can send: its numbers are exact up to there. */
export const SEQUENCE_MAX = 2n ** 53n - 1n

/** Number of each kind of frame: below 64 from the client, from 64 on from the service. */
export const FRAME_KINDS = {
  hello: 1,
  types: 2,
  source: 3,
  symbols: 4,
  attach: 5,
  page: 6,
  bye: 7,
  proof: 8,
  welcome: 65,
  attached: 66,
  ack: 67,
  error: 68,
  challenge: 69,
} as const

/** The clocks by their number in a page. */
export const PAGE_CLOCKS: readonly Clock[] = ['wall', 'monotonic', 'device']

/** The first frame of a client, with its identity. */
export interface Hello {
  readonly protocol: number
  /** The id that the service gave it, 64 bits; 0 if it has none yet. */
  readonly client: bigint
  /**
   * The secret that the service gave it with its id, to recognise it; empty if it has none yet. Keep it secret.
   */
  readonly secret: string
  /** The last page whose acknowledgement it has read. Drops of later pages are reported again. 0 for none. */
  readonly heard: bigint
  readonly pid: number
  readonly program: string
  readonly version: string
}

/** A type that pages will refer to. */
export interface TypeEntry {
  /** Its number in the pages of this connection. Range: 0 to 65 535. */
  readonly index: number
  readonly fingerprint: string
  /** Not looked at here: `parseDefinition` makes a type of it. */
  readonly definition: unknown
}

/** A source that pages will refer to. */
export interface SourceEntry {
  /** Its number in the pages of this connection. Range: 0 to 2^32 − 1. */
  readonly index: number
  readonly id: string
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  /** Name of its schema; may be empty. */
  readonly schema: string
  /**
   * Index of the source whose series this source continues. Later pages must not refer to the replaced source: its
   * symbols are discarded and no longer count towards the limit. Absent if it replaces none.
   */
  readonly replaces?: number
}

/**
 * Symbols of a source with ascending ids from `firstId`. Labels have ids below 2^30, texts of text fields higher ids;
 * both continue their tables without gaps. An entry without texts starts a new table of texts, which replaces the
 * earlier table for all later pages.
 */
export interface SymbolsEntry {
  /** Index of the source. */
  readonly source: number
  readonly firstId: number
  readonly texts: readonly string[]
}

/** Where the client puts its pages: a file of `slots * slotBytes` bytes. */
export interface Attach {
  /** Absolute path as the client sees it. */
  readonly file: string
  readonly slots: number
  readonly slotBytes: number
}

/** One batch. Its bytes follow inline, or lie in a slot of the client's file. */
export interface Page {
  /** Rises by one from 1 over all pages of a client, up to {@link SEQUENCE_MAX}. */
  readonly sequence: bigint
  /** Index of the source. */
  readonly source: number
  /** Index of the type. */
  readonly type: number
  readonly clock: Clock
  /** Records. */
  readonly count: number
  /** Length of the records. Unit: bytes. */
  readonly byteLength: number
  /** CRC-32 of the records. */
  readonly crc: number
  /** Number of the slot; undefined if the bytes are inline. */
  readonly slot: number | undefined
}

/** A page as it was read. `bytes`, where they are inline, are valid until the next frame is asked for. */
export interface ReadPage extends Page {
  readonly bytes: Uint8Array | undefined
}

/** Limits of a service for one client. */
export interface ServiceLimits {
  /** Bytes of one page at most. */
  readonly pageBytes: number
  readonly types: number
  readonly sources: number
  /** Symbols of all sources together, without the first 32 of each and without the texts of text fields. */
  readonly symbols: number
  /** Memory that the service keeps for the client. Unit: bytes. */
  readonly clientBytes: number
}

/** Records of acknowledged pages, by reason. */
export interface Untaken {
  /** Records that are lost: nothing of the service keeps them. */
  readonly dropped: Readonly<Record<string, number>>
  /** Records that are stored, but that a view of the service, such as `/metrics`, does not show. */
  readonly hidden: Readonly<Record<string, number>>
}

/** The service's first frame. */
export interface Welcome extends Untaken {
  readonly protocol: number
  /** The id of the client, which may be shown. 64 bits, never 0. */
  readonly client: bigint
  /** The secret that identifies this client on its next connection. 64 hex digits; keep it secret. */
  readonly secret: string
  /**
   * The newest stored page of this client; 0 if none is stored. `dropped` and `hidden` count pages up to it, without
   * those of earlier reports.
   */
  readonly lastSequence: bigint
  /** Whether an acknowledged page outlives a crash of the service. */
  readonly ack: 'memory' | 'durable'
  readonly limits: ServiceLimits
}

/**
 * The bytes that a client writes to the start of a file that it wants to attach, to prove that it may write the file.
 */
export interface Challenge {
  /** Random, of this attach alone. 64 hex digits, written as 32 bytes. */
  readonly nonce: string
}

/** Whether the service reads the client's file. */
export interface Attached {
  readonly ok: boolean
  /** Why not; empty if it does. */
  readonly reason: string
}

/** Every page up to a sequence is done with; of these pages some records were dropped or are hidden. */
export interface Ack extends Untaken {
  readonly sequence: bigint
}

/** What the service cannot put up with; it hangs up afterwards. */
export interface ErrorMessage {
  readonly code: string
  readonly message: string
}

interface FrameOf<K, B> {
  readonly kind: K
  readonly body: B
}

/** A message of a client, before encoding. Pages are written by `writePageHeader`. */
export type ClientMessage =
  | FrameOf<'hello', Hello>
  | FrameOf<'types', readonly TypeEntry[]>
  | FrameOf<'source', SourceEntry>
  | FrameOf<'symbols', SymbolsEntry>
  | FrameOf<'attach', Attach>
  | FrameOf<'proof', Readonly<Record<string, never>>>
  | FrameOf<'bye', Readonly<Record<string, never>>>

/** A decoded message of a client. */
export type ClientFrame = ClientMessage | FrameOf<'page', ReadPage>

/** What a service says. */
export type ServiceFrame =
  | FrameOf<'welcome', Welcome>
  | FrameOf<'challenge', Challenge>
  | FrameOf<'attached', Attached>
  | FrameOf<'ack', Ack>
  | FrameOf<'error', ErrorMessage>
