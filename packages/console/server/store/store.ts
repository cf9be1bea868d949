import type { Batch, Sink } from '@sonde/sdk'
import type { History, HistoryStatus } from '@sonde/sdk/internal'
import { STORE_MODULE } from '../places.ts'
import { type StoreOptions, settingsOf } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import type { RecordsRequest, StoredTypes } from './protocol.ts'

/** How the store fares. */
export interface StoreStatus extends HistoryStatus {
  /** Part of `bytes` that is free for reuse. */
  readonly freeBytes: number
  /** How many names it holds, by what they name. Each has a limit, and leaves with the last of its data. */
  readonly names: Readonly<Record<string, number>>
}

/** Records that were lost when a store closed. */
export interface Unwritten {
  readonly records: number
  readonly bytes: number
  /** Why they were not written, as a sentence. */
  readonly reason: string
}

/** Keeps records on disk and answers questions about them. */
export interface Store extends Sink, History {
  /** Records that wait for the disk. */
  readonly queuedRecords: number
  /** How it fares; costs nothing. */
  status(): StoreStatus
  /**
   * Called with every exception that nobody expected and that was caught: it is a fault of Sonde, and the store goes
   * on.
   */
  onFault: (error: unknown) => void
  /**
   * Reads records back as they were reported: whole hours from the earliest on, series by series, then what is not yet
   * compacted.
   */
  records(request: RecordsRequest): Promise<readonly Batch[]>
  /** The types of which it keeps records, without those that the caller knows already, by name. */
  types(except: readonly string[]): Promise<StoredTypes>
  /** What was not written when it was closed; undefined before that, and where everything was. */
  readonly unwritten: Unwritten | undefined
  /** Does what is due now rather than at the next turn: compaction, roll-ups, retention. */
  maintain(): Promise<void>
}

/**
 * Opens the embedded store. Whatever lies at the path, it starts: a damaged file is set aside, an unwritable one is
 * tried again, and the status says so.
 *
 * @throws SondeError `STO_OPTIONS`; `STO_LOCKED` if another process has the file open.
 */
export async function createStore(options: StoreOptions): Promise<Store> {
  const store = new EmbeddedStore(settingsOf(options), STORE_MODULE)
  await store.opened
  return store
}
