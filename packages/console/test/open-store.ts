import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreOptions } from '../server/store/config.ts'
import { createStore, type Store } from '../server/store/store.ts'

/** A store in a folder of its own. */
export interface TestStore {
  readonly store: Store
  readonly path: string
  /** Closes it and takes the folder away. */
  close(): Promise<void>
}

/** Opens a store for a test. */
export async function openStore(options: Partial<StoreOptions> = {}): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-store-'))
  const path = options.path ?? join(folder, 'store.db')
  const store = await createStore({ flushIntervalMs: 20, ...options, path })
  return {
    store,
    path,
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
