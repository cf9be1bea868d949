import type { RecordsRequest, StoredBatch } from '../protocol.ts'
import type { StoreFile } from './store-file.ts'

/** Reads records back as they were reported. */
export function readStored(_file: StoreFile, _request: RecordsRequest): readonly StoredBatch[] {
  return []
}
