import { resolve } from 'node:path'
import { defaultDataDir, type StoreConfig } from '@sonde/console/config'

/** Absolute path of the file that history is kept in. */
export function storePath({ dir = defaultDataDir() }: StoreConfig): string {
  return resolve(dir, 'store.db')
}
