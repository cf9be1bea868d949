/** Where the bytes of every contender end: counts and sums all of them, so that none can be left unwritten. */
export class CountingSink {
  records = 0
  bytes = 0
  /** Sum of all 32-bit words, modulo 2^32. */
  sum = 0
  /** What came last, for a look at what it says. */
  last: Uint8Array = new Uint8Array()

  /** @param page Starts at a multiple of 4; what is left of a whole number of words is counted, and not summed. */
  take(page: Uint8Array, records: number): void {
    this.records += records
    this.bytes += page.byteLength
    this.sum = (this.sum + sumOf(new Uint32Array(page.buffer, page.byteOffset, page.byteLength >> 2))) >>> 0
    this.last = page
  }
}

function sumOf(words: Uint32Array): number {
  let sum = 0
  for (let i = 0; i < words.length; i++) sum = (sum + (words[i] ?? 0)) | 0
  return sum
}
