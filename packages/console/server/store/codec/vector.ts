import { type ByteReader, type ByteWriter, corrupt } from './bytes.ts'
import { DECIMALS_MAX, decimalsOf, scaleDown, scaleUp } from './decimals.ts'
import { decodeIntegers, encodeIntegers } from './integers.ts'
import { Scratch } from './scratch.ts'

/**
 * A vector holds the present values of one element of a column. Layout: form u8, then the integers. Bit 0 of the form:
 * 0 for a line (first value and step; a constant has step 0, a time grid its period), 1 for packed blocks. Bit 7: the
 * integers are scaled decimals of a float, and bits 1 to 4 hold the number of decimal places; without it they are the
 * 64 bits of the value itself.
 */
const PACKED = 1
const SCALED = 0x80

const scaledScratch = new Scratch()

/** The content of the 64-bit words of a vector. */
export type Content = 'integer' | 'f32' | 'f64'

/** Writes `count` values. `words` starts at a multiple of 8 bytes. */
export function encodeVector(words: Uint32Array, count: number, content: Content, writer: ByteWriter): void {
  if (content === 'integer' || isLine(words, count)) {
    encodeWords(words, count, 0, writer)
    return
  }
  const values = floatsOf(words, count, content)
  const decimals = decimalsOf(values)
  const scaled = scaledScratch.words(count)
  if (decimals >= 0 && scaleUp(values, decimals, scaled)) encodeWords(scaled, count, SCALED | (decimals << 1), writer)
  else encodeWords(words, count, 0, writer)
}

/** Reads {@link encodeVector} into `words`, which starts at a multiple of 8 bytes. */
export function decodeVector(reader: ByteReader, count: number, content: Content, words: Uint32Array): void {
  const form = reader.u8()
  const scaled = (form & SCALED) !== 0
  const decimals = (form >> 1) & 0x0f
  if ((form & 0x60) !== 0 || decimals > DECIMALS_MAX) throw corrupt(`a vector of unknown form ${form}`)
  if (!scaled && decimals !== 0) throw corrupt(`a vector of unknown form ${form}`)
  if (scaled && content === 'integer') throw corrupt('integers that are scaled')
  if ((form & PACKED) !== 0) decodeIntegers(reader, count, words)
  else decodeLine(reader, count, words)
  if (scaled) toFloats(words, count, decimals, content)
}

function encodeWords(words: Uint32Array, count: number, form: number, writer: ByteWriter): void {
  if (!isLine(words, count)) {
    writer.u8(form | PACKED)
    encodeIntegers(words, count, writer)
    return
  }
  writer.u8(form)
  const low = words[0] ?? 0
  const high = words[1] ?? 0
  writer.varint64(low, high | 0)
  const nextLow = count > 1 ? (words[2] ?? 0) : low
  const nextHigh = count > 1 ? (words[3] ?? 0) : high
  writer.varint64((nextLow - low) >>> 0, (nextHigh - high - (nextLow < low ? 1 : 0)) | 0)
}

function isLine(words: Uint32Array, count: number): boolean {
  if (count <= 2) return true
  const stepLow = ((words[2] ?? 0) - (words[0] ?? 0)) >>> 0
  const stepHigh = (words[3] ?? 0) - (words[1] ?? 0) - ((words[2] ?? 0) < (words[0] ?? 0) ? 1 : 0)
  if (stepLow === 0 && stepHigh === 0) return isConstant(words, count)
  for (let i = 2; i < count; i++) {
    const sum = (words[2 * i - 2] ?? 0) + stepLow
    if (sum >>> 0 !== words[2 * i]) return false
    if (((words[2 * i - 1] ?? 0) + stepHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0 !== words[2 * i + 1]) return false
  }
  return true
}

/** Most error counters do not change, so values are compared with their predecessors in native code. */
function isConstant(words: Uint32Array, count: number): boolean {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, 8 * count)
  return Buffer.compare(bytes.subarray(8), bytes.subarray(0, -8)) === 0
}

function decodeLine(reader: ByteReader, count: number, words: Uint32Array): void {
  reader.varint64()
  let low = reader.low
  let high = reader.high
  reader.varint64()
  const stepLow = reader.low
  const stepHigh = reader.high
  for (let i = 0; i < count; i++) {
    words[2 * i] = low
    words[2 * i + 1] = high
    const sum = low + stepLow
    low = sum >>> 0
    high = (high + stepHigh + (sum > 0xffffffff ? 1 : 0)) | 0
  }
}

function floatsOf(words: Uint32Array, count: number, content: Content): Float64Array | Float32Array {
  if (content === 'f64') return new Float64Array(words.buffer, words.byteOffset, count)
  const bits = new Uint32Array(count)
  for (let i = 0; i < count; i++) bits[i] = words[2 * i] ?? 0
  return new Float32Array(bits.buffer)
}

function toFloats(words: Uint32Array, count: number, decimals: number, content: Content): void {
  if (content === 'f64') {
    const values = new Float64Array(words.buffer, words.byteOffset, count)
    for (let i = 0; i < count; i++) values[i] = scaleDown(words[2 * i] ?? 0, words[2 * i + 1] ?? 0, decimals)
    return
  }
  const value = new Float32Array(1)
  const bits = new Uint32Array(value.buffer)
  for (let i = 0; i < count; i++) {
    value[0] = scaleDown(words[2 * i] ?? 0, words[2 * i + 1] ?? 0, decimals)
    words[2 * i] = bits[0] ?? 0
    words[2 * i + 1] = 0
  }
}
