import type { Batch } from '../schema/batch.ts'
import { entryBytes, type QueueEntry } from './queue.ts'
import { splitBatch } from './split-batch.ts'

/** Records of a queued batch that go together: the whole batch, or its part in a shard. */
export interface RequestPiece {
  readonly entry: QueueEntry
  readonly batch: Batch
}

/** The records of a request. */
export type Request = readonly RequestPiece[]

/** The number of records in pieces. */
export function recordsIn(pieces: readonly RequestPiece[]): number {
  return pieces.reduce((records, { batch }) => records + batch.count, 0)
}

/** Makes requests within the limits of pieces, in their order. A record that is too large goes alone. */
export function requestsOf(
  pieces: readonly RequestPiece[],
  limits: { readonly batchRecordsMax: number; readonly batchBytesMax: number },
): readonly Request[] {
  const requests: RequestPiece[][] = []
  let [records, bytes] = [0, 0]
  for (const { entry, batch: whole } of pieces) {
    for (const batch of splitBatch(whole, limits)) {
      records += batch.count
      bytes += entryBytes(batch)
      if (requests.length === 0 || records > limits.batchRecordsMax || bytes > limits.batchBytesMax) {
        requests.push([])
        records = batch.count
        bytes = entryBytes(batch)
      }
      requests.at(-1)?.push({ entry, batch })
    }
  }
  return requests
}
