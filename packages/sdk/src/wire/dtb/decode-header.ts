import { SondeError } from '../../errors.ts'
import { crc32 } from '../../internal/crc32.ts'
import type { Clock } from '../../schema/batch.ts'
import {
  BLOCK_HEADER_BYTES,
  BLOCK_MAGIC,
  CLOCK_SHIFT,
  CLOCKS,
  DEFLATE_FLAG,
  DTB_LIMITS,
  FILE_HEADER_BYTES,
  FILE_MAGIC,
  FORMAT_MAJOR,
  HEADER_CRC_AT,
} from './format.ts'

/** The header of a file. */
export interface DtbFileHeader {
  readonly minor: number
  /** Fingerprint of the schema, 32 hex digits. */
  readonly fingerprint: string
  /** Unit: microseconds since the Unix epoch. */
  readonly createdUs: bigint
  readonly writerId: bigint
}

/** The header of a block. */
export interface DtbBlockHeader {
  /** 1 types, 2 source, 3 records, 4 symbols, 255 end; others are of a later minor version. */
  readonly blockType: number
  readonly isDeflated: boolean
  readonly clock: Clock
  readonly typeIndex: number
  /** Of the payload in the file, without padding. Unit: bytes. */
  readonly storedBytes: number
  /** Of the payload once unpacked. Unit: bytes. */
  readonly unpackedBytes: number
  readonly count: number
  readonly recordBytes: number
  /** Earliest time among the records. Unit: nanoseconds. 0 if they have none. */
  readonly firstNs: bigint
  /** Latest time among the records. Unit: nanoseconds. 0 if they have none. */
  readonly lastNs: bigint
  /** The client that sent the records as a page; 0 if they came from none. */
  readonly client: bigint
  readonly pageSequence: bigint
  readonly payloadCrc: number
}

/**
 * The header of a file, of which `bytes` has as much as there is.
 *
 * @throws SondeError `DTB_TRUNCATED` if the file ends within it, `DTB_FILE` if it is none.
 */
export function decodeFileHeader(bytes: Uint8Array): DtbFileHeader {
  if (!beginsWith(bytes, FILE_MAGIC)) throw new SondeError('DTB_FILE', 'this is no DTB file: other first bytes')
  if (bytes.length < FILE_HEADER_BYTES) throw truncated('the header of the file')
  const data = dataOf(bytes)
  if (data.getUint32(HEADER_CRC_AT, true) !== crc32(bytes.subarray(0, HEADER_CRC_AT))) {
    throw new SondeError('DTB_FILE', 'the header of the file is damaged: its CRC-32 is another')
  }
  const major = data.getUint16(8, true)
  const headerBytes = data.getUint32(12, true)
  if (major !== FORMAT_MAJOR || headerBytes !== FILE_HEADER_BYTES) {
    throw new SondeError(
      'DTB_FILE',
      `version ${major} with a header of ${headerBytes} bytes; this reader knows version ${FORMAT_MAJOR} with ${FILE_HEADER_BYTES}`,
    )
  }
  return {
    minor: data.getUint16(10, true),
    fingerprint: Buffer.from(bytes.subarray(16, 32)).toString('hex'),
    createdUs: data.getBigUint64(32, true),
    writerId: data.getBigUint64(40, true),
  }
}

/**
 * The header of a block, of which `bytes` has as much as there is.
 *
 * @throws SondeError `DTB_TRUNCATED` if the file ends within it, `DTB_BLOCK` if it is none, `DTB_LIMIT` where its
 * payload is too large.
 */
export function decodeBlockHeader(bytes: Uint8Array): DtbBlockHeader {
  if (!beginsWith(bytes, MAGIC_BYTES)) throw new SondeError('DTB_BLOCK', 'no block begins here: other first bytes')
  if (bytes.length < BLOCK_HEADER_BYTES) throw truncated('the header of a block')
  const data = dataOf(bytes)
  if (data.getUint32(HEADER_CRC_AT, true) !== crc32(bytes.subarray(0, HEADER_CRC_AT))) {
    throw new SondeError('DTB_BLOCK', 'the header of the block is damaged: its CRC-32 is another')
  }
  const flags = data.getUint8(5)
  const clock = CLOCKS[(flags >> CLOCK_SHIFT) & 3]
  if (clock === undefined) throw new SondeError('DTB_BLOCK', 'the block names clock 3; allowed: 0, 1, 2')
  const storedBytes = data.getUint32(8, true)
  const unpackedBytes = data.getUint32(12, true)
  if (Math.max(storedBytes, unpackedBytes) > DTB_LIMITS.payloadBytes) {
    throw new SondeError(
      'DTB_LIMIT',
      `a payload of ${storedBytes} bytes, ${unpackedBytes} unpacked; allowed: ${DTB_LIMITS.payloadBytes} each`,
    )
  }
  return {
    blockType: data.getUint8(4),
    isDeflated: (flags & DEFLATE_FLAG) !== 0,
    clock,
    typeIndex: data.getUint16(6, true),
    storedBytes,
    unpackedBytes,
    count: data.getUint32(16, true),
    recordBytes: data.getUint32(20, true),
    firstNs: data.getBigUint64(24, true),
    lastNs: data.getBigUint64(32, true),
    client: data.getBigUint64(40, true),
    pageSequence: data.getBigUint64(48, true),
    payloadCrc: data.getUint32(56, true),
  }
}

/** Bytes of the payload in the file, its padding included. */
export function paddedBytes({ storedBytes }: DtbBlockHeader): number {
  return (storedBytes + 7) & ~7
}

/** The block that the file does not hold to its end. */
export function truncated(what: string): SondeError {
  return new SondeError('DTB_TRUNCATED', `the file ends within ${what}`)
}

const MAGIC_BYTES = [0, 8, 16, 24].map((shift) => (BLOCK_MAGIC >>> shift) & 0xff)

/** Whether bytes begin so, as far as they go. */
function beginsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => i >= bytes.length || bytes[i] === byte)
}

function dataOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
