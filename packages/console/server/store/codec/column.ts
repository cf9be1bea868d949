import type { Kind } from '@sonde/sdk/internal'

/** Largest number of samples in one column. */
export const SAMPLE_COUNT_LIMIT = 1 << 20

/**
 * Largest number of values in one column: samples times elements. It limits the memory of a decoder to 32 MiB, whatever
 * the blob contains.
 */
export const COLUMN_VALUE_COUNT_LIMIT = 1 << 22

/**
 * One field of one series over a time range, without its times: the times are one separate column for all fields of the
 * series. Every value is two little-endian u32 words, low word first, so that a u64 beyond 2^53 and the bits of a float
 * stay exact: unsigned kinds are zero-extended, signed kinds sign-extended, `f64` is its bits, `f32` its bits in the
 * low word.
 */
export interface WordColumn {
  readonly kind: Kind
  /** Number of samples. Range: 0 to {@link SAMPLE_COUNT_LIMIT}. */
  readonly count: number
  /** Elements of the field; 1 for a scalar. */
  readonly elements: number
  /**
   * `2 * count * elements` words, element by element: all samples of element 0, then those of element 1. Absent samples
   * read as 0.
   */
  readonly words: Uint32Array
  /** One bit for each sample, lowest bit first, 1 = present; `null` if every sample is present. */
  readonly present: Uint8Array | null
  /**
   * For kind `symbol`: the texts that its values index. With them a column is readable without its writer's table.
   */
  readonly texts: readonly string[] | null
}

/** Codes of the kinds in a blob: the index in this list. New kinds are only added at the end. */
export const KIND_CODES: readonly Kind[] = [
  'u8',
  'u16',
  'u32',
  'u64',
  'i8',
  'i16',
  'i32',
  'i64',
  'f32',
  'f64',
  'bool',
  'char',
  'symbol',
]

/** The version that this code writes, and the only version that it reads. */
export const BLOB_VERSION = 1

/** Bits of the flags byte. */
export const FLAG_PRESENCE = 1
export const FLAG_TEXTS = 2

/** Bytes of the head: version u8, kind u8, flags u8, zero u8, crc u32, count u32, elements u32. */
export const HEAD_BYTES = 16

/** Whether sample `index` of a column is present. */
export function hasColumnValue(present: Uint8Array | null, index: number): boolean {
  return present === null || ((present[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}
