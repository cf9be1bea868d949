import type { Batch, Sink } from '@sonde/sdk'
import type { History, HistoryStatus } from '@sonde/sdk/internal'
import { STORE_MODULE } from '../places.ts'
import { type StoreOptions, storeSettings } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import type { EndedNames, RecordsRequest, StoredTypes } from './protocol.ts'

/** The status of the store. */
export interface StoreStatus extends HistoryStatus {
  /** Part of `bytes` that is free for reuse. */
  readonly freeBytes: number
  /** Number of stored names, by kind. Each kind has a limit, and a name is deleted with the last of its data. */
  readonly names: Readonly<Record<string, number>>
}

/** Records that were lost when a store closed. */
export interface Unwritten {
  readonly records: number
  readonly bytes: number
  /** The reason as a sentence. */
  readonly reason: string
}

/** Keeps records on disk and answers questions about them. */
export interface Store extends Sink, History {
  /** Number of records that wait for the disk. */
  readonly queuedRecords: number
  /** The current status; reading it costs nothing. */
  status(): StoreStatus
  /**
   * Called with every unexpected exception that was caught. It is a fault of Sonde, and the store continues.
   */
  onFault: (error: unknown) => void
  /**
   * Called when types of this process have lost metric names that the history has, once for each earlier version of a
   * type, also after later starts.
   */
  onEnded: (ended: EndedNames) => void
  /**
   * Reads records back as they were reported: whole hours in order of time, series by series, then the records that are
   * not yet compacted.
   */
  records(request: RecordsRequest): Promise<readonly Batch[]>
  /** The types with stored records, by name, without those that the caller already knows. */
  types(except: readonly string[]): Promise<StoredTypes>
  /** Records that were not written at close; undefined before close, and if all were written. */
  readonly unwritten: Unwritten | undefined
  /** Runs due work now rather than at its next turn: compaction, roll-ups, retention. */
  maintain(): Promise<void>
}

/**
 * Opens the embedded store. It always starts: a damaged file is set aside, an unwritable file is tried again, and the
 * status reports both.
 *
 * @throws SondeError `STO_OPTIONS`; `STO_LOCKED` if another process has the file open.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const store = new EmbeddedStore(storeSettings(options), STORE_MODULE)
  await store.opened
  return store
}
