import type { TypeDefinition } from '../../schema/fingerprint.ts'

/*
 * The layout of a file of records; `docs/dtb.md` describes it for other readers. All numbers are little-endian; every
 * block starts at a multiple of 8.
 */

/** First bytes of a file. */
export const FILE_MAGIC: readonly number[] = [0x44, 0x54, 0x4c, 0x4d, 0x42, 0x49, 0x4e, 0x01]
/** First bytes of a block: `DTBK` as one little-endian number. */
export const BLOCK_MAGIC = 0x4b425444
/** A reader refuses another major version. */
export const FORMAT_MAJOR = 1
/** A reader accepts a higher minor version, and skips the types of block that it does not know. */
export const FORMAT_MINOR = 0
/** Size of the header of a file. Unit: bytes. */
export const FILE_HEADER_BYTES = 64
/** Size of the header of a block. Unit: bytes. */
export const BLOCK_HEADER_BYTES = 64
/** Where the CRC-32 of a header lies, which covers all bytes before it: in that of a file and in that of a block. */
export const HEADER_CRC_AT = 60

/** What a block holds. Types and source come first; types and symbols precede their first use. */
export const BLOCK_TYPE = {
  /** JSON: an array of {@link TypeEntry}. Later ones add types. */
  types: 1,
  /** JSON: {@link SourceEntry}. */
  source: 2,
  /** The bytes of a batch. */
  records: 3,
  /** u32 first id, u32 count; then a text: u32 byte length, UTF-8. A file need not name all ids, nor in order. */
  symbols: 4,
  /**
   * u32 first id: a table of texts begins, whose ids are not below it. The texts of the table before are referred to no
   * more.
   */
  texts: 5,
  /** JSON: {@link SourceEntry} of the records that follow, where a file has those of several sources. */
  origin: 6,
  /** Room that its writer keeps for a block that comes later. Readers skip it. */
  reserved: 254,
  /** Nothing: the writer closed the file. */
  end: 255,
} as const

/** Bit 0 of the flags of a block: the payload is raw DEFLATE. */
export const DEFLATE_FLAG = 1
/** Bits 1 and 2 of the flags of a block: the clock of its records, as an index into this. */
export const CLOCKS = ['wall', 'monotonic', 'device'] as const
/** How far the clock is shifted in the flags. */
export const CLOCK_SHIFT = 1

/**
 * First of the ids of symbols that are the writer's of the file, and not of the source, whose ids are below. A file
 * uses them for what its writer says of itself, as in a record of `sonde_loss`.
 */
export const WRITER_SYMBOL_ID = 1 << 24

/** Limits of a reader, so that a hostile file cannot exhaust its memory. A writer stays within them. */
export const DTB_LIMITS = {
  /** Stored or unpacked. Unit: bytes. */
  payloadBytes: 64 << 20,
  typeCount: 256,
  /** Sources of one file, where it has records of several. */
  originCount: 4096,
  /** Some more than a source may have, of labels and of the texts of one table. */
  symbolCount: 1 << 22,
  /** UTF-16 units of the texts of all symbols; in memory each takes two bytes at most. */
  symbolCharacters: 128 << 20,
} as const

/** A type as a file announces it. */
export interface TypeEntry {
  /** What the headers of blocks of records call it by: from 0, in order. */
  readonly index: number
  readonly fingerprint: string
  readonly definition: TypeDefinition
}

/** The source of a file, and the process that wrote it. */
export interface SourceEntry {
  readonly id: string
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  /** Name of the schema, empty if it has none. */
  readonly schema: string
  readonly host: string
  readonly pid: number
  /** Of the program that wrote; may be empty. */
  readonly version: string
  /** The only client whose pages the file holds, 16 hex digits; left out where it holds none. */
  readonly client?: string
  /** Whether `origin` blocks name the sources of records. Default: all records are of this source. */
  readonly hasOrigins?: true
}
