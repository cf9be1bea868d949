import { dirname, join, resolve } from 'node:path'
import { defaultDataDir, type StoreConfig } from '@sonde/console/config'

/** Absolute path of the file of history. */
export function storePath({ dir = defaultDataDir() }: StoreConfig): string {
  return resolve(dir, 'store.db')
}

/** Absolute path of the note by which the next start knows how this one ended. It is kept without a history too. */
export function lifePath(config: StoreConfig): string {
  return join(dirname(storePath(config)), 'life.json')
}
