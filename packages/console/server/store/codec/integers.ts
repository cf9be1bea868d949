import { packBits, packedWords, unpackBits } from './bit-packing.ts'
import { type ByteReader, type ByteWriter, corrupt } from './bytes.ts'
import { Scratch } from './scratch.ts'

/**
 * Exact coding of 64-bit integers given as low and high words. The sequence, its differences, or their differences
 * (`order` 0, 1 or 2; whichever is smallest) are cut into blocks. Each block stores its smallest residual, and the rest
 * above it with as many bits as the widest needs. An outlier, such as a counter that restarts, thus costs only one
 * block. All arithmetic is modulo 2^64, so a wrap needs no special case.
 *
 * Layout: order u8, `order` first values, then for each block its smallest residual as the difference to the block
 * before and its width u8, then the packed words of all blocks. A block wider than 32 bits stores its low words whole
 * and its high words packed.
 */
const BLOCK_COUNT = 64

// Reused for each column.
const residualsScratch = new Scratch()
const packedScratch = new Scratch()
const block: Block = {
  low: new Uint32Array(BLOCK_COUNT),
  high: new Uint32Array(BLOCK_COUNT),
  minLow: 0,
  minHigh: 0,
  width: 0,
}

/** Writes `count` integers. `words` holds low and high word of each. */
export function encodeIntegers(words: Uint32Array, count: number, writer: ByteWriter): void {
  const order = cheapestOrder(words, count)
  const residuals = residualsScratch.words(count)
  residuals.set(words.subarray(0, 2 * count))
  for (let step = 0; step < order; step++) differences(residuals, count, step)
  writer.u8(order)
  for (let i = 0; i < Math.min(order, count); i++)
    writer.varint64(residuals[2 * i] ?? 0, (residuals[2 * i + 1] ?? 0) | 0)
  const packed = packedScratch.words(count + 1)
  let packedCount = 0
  let beforeLow = 0
  let beforeHigh = 0
  for (let start = Math.min(order, count); start < count; start += BLOCK_COUNT) {
    const length = Math.min(BLOCK_COUNT, count - start)
    reduceBlock(residuals, start, length, block)
    const stepLow = (block.minLow - beforeLow) >>> 0
    writer.varint64(stepLow, (block.minHigh - beforeHigh - (block.minLow < beforeLow ? 1 : 0)) | 0)
    writer.u8(block.width)
    beforeLow = block.minLow
    beforeHigh = block.minHigh
    packedCount = packBits(block.low, 0, length, Math.min(block.width, 32), packed, packedCount)
    if (block.width > 32) packedCount = packBits(block.high, 0, length, block.width - 32, packed, packedCount)
  }
  writer.append(new Uint8Array(packed.buffer, packed.byteOffset, 4 * packedCount))
}

/** Reads `count` integers into `words`, low and high word of each. */
export function decodeIntegers(reader: ByteReader, count: number, words: Uint32Array): void {
  const order = reader.u8()
  if (order > 2) throw corrupt(`order ${order} is unknown`)
  const first = Math.min(order, count)
  for (let i = 0; i < first; i++) {
    reader.varint64()
    words[2 * i] = reader.low
    words[2 * i + 1] = reader.high
  }
  const blockCount = Math.ceil((count - first) / BLOCK_COUNT)
  // A block has at least two bytes: this is checked before memory is reserved for blocks.
  if (reader.remaining < 2 * blockCount) throw corrupt('it ends early')
  const minima = new Uint32Array(2 * blockCount)
  const widths = new Uint8Array(blockCount)
  const packedCount = readBlockHeads(reader, count - first, minima, widths)
  const bytes = reader.take(4 * packedCount)
  const packed = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  for (let block = 0; block < blockCount; block++) {
    const start = first + block * BLOCK_COUNT
    const length = Math.min(BLOCK_COUNT, count - start)
    const width = widths[block] ?? 0
    at = unpackBits(packed, at, length, Math.min(width, 32), words, 2 * start)
    at = unpackBits(packed, at, length, Math.max(width - 32, 0), words, 2 * start + 1)
    raise(words, 2 * start, length, minima[2 * block] ?? 0, minima[2 * block + 1] ?? 0)
  }
  for (let step = order - 1; step >= 0; step--) sums(words, count, step)
}

interface Block {
  low: Uint32Array
  high: Uint32Array
  minLow: number
  minHigh: number
  width: number
}

function readBlockHeads(reader: ByteReader, count: number, minima: Uint32Array, widths: Uint8Array): number {
  let packedCount = 0
  let low = 0
  let high = 0
  for (let block = 0; block < widths.length; block++) {
    reader.varint64()
    const sum = low + reader.low
    low = sum >>> 0
    high = (high + reader.high + (sum > 0xffffffff ? 1 : 0)) | 0
    const width = reader.u8()
    if (width > 64) throw corrupt(`a width of ${width} bits`)
    minima[2 * block] = low
    minima[2 * block + 1] = high
    widths[block] = width
    const length = Math.min(BLOCK_COUNT, count - block * BLOCK_COUNT)
    packedCount += packedWords(length, Math.min(width, 32)) + packedWords(length, Math.max(width - 32, 0))
  }
  return packedCount
}

/**
 * The order that packs smallest. Computed in doubles: beyond 2^53 it is an estimate, and only the size depends on it.
 */
function cheapestOrder(words: Uint32Array, count: number): number {
  let bits0 = 0
  let bits1 = 0
  let bits2 = 0
  let value = 0
  let difference = 0
  for (let start = 0; start < count; start += BLOCK_COUNT) {
    const end = Math.min(start + BLOCK_COUNT, count)
    let min0 = Infinity
    let max0 = -Infinity
    let min1 = Infinity
    let max1 = -Infinity
    let min2 = Infinity
    let max2 = -Infinity
    for (let i = start; i < end; i++) {
      const next = ((words[2 * i + 1] ?? 0) | 0) * 4294967296 + (words[2 * i] ?? 0)
      const step = next - value
      const bend = step - difference
      value = next
      difference = step
      if (next < min0) min0 = next
      if (next > max0) max0 = next
      // The first values of an order are stored separately, and must not widen the first block.
      if (i >= 1 && step < min1) min1 = step
      if (i >= 1 && step > max1) max1 = step
      if (i >= 2 && bend < min2) min2 = bend
      if (i >= 2 && bend > max2) max2 = bend
    }
    const length = end - start
    bits0 += length * bitsOf(max0 - min0)
    bits1 += length * bitsOf(max1 - min1)
    bits2 += length * bitsOf(max2 - min2)
  }
  if (bits0 <= bits1 && bits0 <= bits2) return 0
  return bits1 <= bits2 ? 1 : 2
}

function bitsOf(range: number): number {
  if (range < 1) return 0
  return range < 4294967296 ? 32 - Math.clz32(range) : 64 - Math.clz32(Math.min(range / 4294967296, 4294967295))
}

/** Replaces every word pair after index `step` by its difference to the pair before. */
function differences(words: Uint32Array, count: number, step: number): void {
  for (let i = 2 * (count - 1); i > 2 * step; i -= 2) {
    const low = words[i] ?? 0
    const lowBefore = words[i - 2] ?? 0
    words[i] = low - lowBefore
    words[i + 1] = (words[i + 1] ?? 0) - (words[i - 1] ?? 0) - (low < lowBefore ? 1 : 0)
  }
}

/** The reverse of {@link differences}. */
function sums(words: Uint32Array, count: number, step: number): void {
  let low = words[2 * step] ?? 0
  let high = words[2 * step + 1] ?? 0
  for (let i = 2 * step + 2; i < 2 * count; i += 2) {
    const sum = low + (words[i] ?? 0)
    low = sum >>> 0
    high = (high + (words[i + 1] ?? 0) + (sum > 0xffffffff ? 1 : 0)) | 0
    words[i] = low
    words[i + 1] = high
  }
}

function reduceBlock(words: Uint32Array, start: number, length: number, block: Block): void {
  let minLow = words[2 * start] ?? 0
  let minHigh = (words[2 * start + 1] ?? 0) | 0
  for (let i = start + 1; i < start + length; i++) {
    const high = (words[2 * i + 1] ?? 0) | 0
    const low = words[2 * i] ?? 0
    if (high < minHigh || (high === minHigh && low < minLow)) {
      minHigh = high
      minLow = low
    }
  }
  let usedLow = 0
  let usedHigh = 0
  for (let i = 0; i < length; i++) {
    const low = words[2 * (start + i)] ?? 0
    const restLow = low - minLow
    const restHigh = (words[2 * (start + i) + 1] ?? 0) - minHigh - (low < minLow ? 1 : 0)
    block.low[i] = restLow
    block.high[i] = restHigh
    usedLow |= restLow
    usedHigh |= restHigh
  }
  block.minLow = minLow
  block.minHigh = minHigh
  block.width = usedHigh !== 0 ? 64 - Math.clz32(usedHigh) : 32 - Math.clz32(usedLow)
}

/** Adds the smallest residual of a block to the words of its values. */
function raise(words: Uint32Array, from: number, count: number, minLow: number, minHigh: number): void {
  for (let i = from; i < from + 2 * count; i += 2) {
    const sum = (words[i] ?? 0) + minLow
    words[i] = sum
    words[i + 1] = (words[i + 1] ?? 0) + minHigh + (sum > 0xffffffff ? 1 : 0)
  }
}
