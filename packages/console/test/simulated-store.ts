import './simulated-clock.ts'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type StoreSettings, storeSettings } from '../server/store/config.ts'
import { EmbeddedStore } from '../server/store/embedded-store.ts'
import { LOG_BYTES } from '../server/store/worker/database.ts'
import { headFolderOf } from '../server/store/worker/head-files.ts'

const WORKER = new URL('simulated-worker-main.ts', import.meta.url)

/** A store in a folder of its own, whose clock a test sets ahead. */
export interface SimulatedStore {
  readonly store: EmbeddedStore
  /** Rows of every table of the file, and its size. */
  sizes(): Record<string, number>
  /** Closes it and takes the folder away. */
  close(): Promise<void>
}

/** Opens one. */
export async function openSimulatedStore(
  settings: Pick<StoreSettings, 'retentionDays' | 'rollupRetentionDays'>,
): Promise<SimulatedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-simulated-'))
  const path = join(folder, 'store.db')
  const store = new EmbeddedStore(storeSettings({ path, ...settings }), WORKER)
  await store.opened
  return {
    store,
    sizes: () => sizesOf(path),
    async close() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A file of the head has so much at least: how many there are at a moment depends on the machine. Unit: bytes. */
const HEAD_FILES_BYTES = 8 * (64 << 10)

/** What the files of a store's head take. */
function headBytes(path: string): number {
  const folder = headFolderOf(path)
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

function sizesOf(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  const sizes = tables.map(({ name }) => [
    String(name),
    Number(database.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.count),
  ])
  database.close()
  // When the log is emptied depends on the machine: below its limit it counts as full.
  const log = Math.max(LOG_BYTES, statSync(`${path}-wal`).size)
  return Object.fromEntries([
    ...sizes,
    ['file', statSync(path).size],
    ['log', log],
    ['files of the head', Math.max(HEAD_FILES_BYTES, headBytes(path))],
  ])
}
