import { crc32 } from 'node:zlib'

/**
 * Where the bytes of every contender end: counts all of them, and makes their checksum, so that none can be left
 * unwritten.
 */
export class CountingSink {
  records = 0
  bytes = 0
  /** CRC-32 of all bytes in order, however they were cut into pages. */
  sum = 0
  /** The last batch, for a check of its content. */
  last: Uint8Array = new Uint8Array()

  take(page: Uint8Array, records: number): void {
    this.records += records
    this.bytes += page.byteLength
    this.sum = crc32(page, this.sum)
    this.last = page
  }
}
