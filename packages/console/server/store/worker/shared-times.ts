/** Bytes of a chunk that only says whose times it shares; every chunk with times of its own is longer. */
const SHARED_BYTES = 4

/** The number of the series whose times a series shares; undefined where the chunk has times of its own. */
export function sharedTimes(body: Uint8Array): number | undefined {
  return body.length === SHARED_BYTES ? new DataView(body.buffer, body.byteOffset).getUint32(0, true) : undefined
}

/** The chunk of a series that was sampled together with series `number` of its segment. */
export function sharedTimesChunk(number: number): Uint8Array {
  const body = new Uint8Array(SHARED_BYTES)
  new DataView(body.buffer).setUint32(0, number, true)
  return body
}
