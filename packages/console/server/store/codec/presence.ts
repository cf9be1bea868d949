import { type ByteReader, type ByteWriter, corrupt } from './bytes.ts'

/**
 * Writes which of `count` samples are present: the lengths of runs, beginning with a run of present samples (may be 0),
 * or the plain bits if they are shorter. Layout: run count varint, then the runs as varints; a run count of 0 means
 * that the bits follow.
 */
export function encodePresence(present: Uint8Array, count: number, writer: ByteWriter): void {
  const bitmap = present.slice(0, Math.ceil(count / 8))
  if (count % 8 !== 0) bitmap[bitmap.length - 1] = (bitmap.at(-1) ?? 0) & ((1 << (count % 8)) - 1)
  const runs = runsOf(bitmap, count)
  if (runs === undefined) {
    writer.varint(0)
    writer.append(bitmap)
    return
  }
  writer.varint(runs.length)
  for (const run of runs) writer.varint(run)
}

/** Reads {@link encodePresence}. */
export function decodePresence(reader: ByteReader, count: number): Uint8Array {
  const runCount = reader.varint()
  if (runCount === 0) return reader.take(Math.ceil(count / 8)).slice()
  if (runCount > reader.remaining) throw corrupt('it ends early')
  const bitmap = new Uint8Array(Math.ceil(count / 8))
  let at = 0
  for (let run = 0; run < runCount; run++) {
    const length = reader.varint()
    if (length > count - at) throw corrupt('its presence runs are longer than the column')
    if (run % 2 === 0) for (let i = at; i < at + length; i++) bitmap[i >> 3] = (bitmap[i >> 3] ?? 0) | (1 << (i & 7))
    at += length
  }
  if (at !== count) throw corrupt('its presence runs are shorter than the column')
  return bitmap
}

/** Number of present samples among the first `count`. */
export function presentCount(bitmap: Uint8Array, count: number): number {
  let total = 0
  for (let i = 0; i < count; i++) total += ((bitmap[i >> 3] ?? 0) >> (i & 7)) & 1
  return total
}

/** The runs, or nothing if they need more space than the bits (each run takes at least a byte). */
function runsOf(bitmap: Uint8Array, count: number): number[] | undefined {
  const runs: number[] = []
  let length = 0
  let wanted = 1
  for (let i = 0; i < count; i++) {
    if ((((bitmap[i >> 3] ?? 0) >> (i & 7)) & 1) === wanted) {
      length++
      continue
    }
    runs.push(length)
    if (2 * runs.length > bitmap.length + 8) return undefined
    wanted = 1 - wanted
    length = 1
  }
  runs.push(length)
  return runs
}
