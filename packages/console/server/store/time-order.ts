import type { Batch } from '@sonde/sdk'

/** Batches beyond this size are put in order part by part. Unit: bytes. */
const KEPT_BYTES_MAX = 256 << 20

/** Records of one type and clock in the order of their time; of equal times, in the order in which they came. */
export function* inTimeOrder(batches: Iterable<Batch>, keptBytesMax: number = KEPT_BYTES_MAX): Generator<Batch> {
  let kept: Batch[] = []
  let keptBytes = 0
  for (const batch of batches) {
    if (keptBytes > 0 && keptBytes + batch.bytes.length > keptBytesMax) {
      yield* ordered(kept)
      kept = []
      keptBytes = 0
    }
    kept.push(batch)
    keptBytes += batch.bytes.length
  }
  yield* ordered(kept)
}

function* ordered(batches: readonly Batch[]): Generator<Batch> {
  const times = batches.map(timesOf)
  if (isInOrder(times)) {
    yield* batches
    return
  }
  // Positions of all records, each as the index of its batch and its place there.
  const count = batches.reduce((sum, batch) => sum + batch.count, 0)
  const batchAt = new Uint32Array(count)
  const recordAt = new Uint32Array(count)
  const all = new BigUint64Array(count)
  let filled = 0
  for (const [index, own] of times.entries()) {
    all.set(own, filled)
    for (let record = 0; record < own.length; record++) {
      batchAt[filled] = index
      recordAt[filled++] = record
    }
  }
  const order = Uint32Array.from({ length: count }, (_, at) => at).sort((a, b) => {
    const [first, second] = [all[a] as bigint, all[b] as bigint]
    return first < second ? -1 : first > second ? 1 : a - b
  })
  for (let from = 0; from < count; ) {
    const start = order[from] as number
    let to = from + 1
    while (to < count && order[to] === start + (to - from) && batchAt[order[to] as number] === batchAt[start]) to++
    const batch = batches[batchAt[start] as number] as Batch
    yield part(batch, recordAt[start] as number, to - from)
    from = to
  }
}

function timesOf({ type, count, bytes }: Batch): BigUint64Array {
  const times = new BigUint64Array(count)
  if (type.time === undefined) return times
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { recordBytes } = type.layout
  for (let record = 0; record < count; record++)
    times[record] = data.getBigUint64(record * recordBytes + type.time.offset, true)
  return times
}

function isInOrder(times: readonly BigUint64Array[]): boolean {
  let last = 0n
  for (const own of times) {
    for (const time of own) {
      if (time < last) return false
      last = time
    }
  }
  return true
}

function part(batch: Batch, first: number, count: number): Batch {
  const { recordBytes } = batch.type.layout
  return { ...batch, count, bytes: batch.bytes.subarray(first * recordBytes, (first + count) * recordBytes) }
}
