import { resolve } from 'node:path'
import { defaultDataDir, type StoreConfig } from '@sonde/console/config'

/** Absolute path of the file of history. */
export function storePath({ dir = defaultDataDir() }: StoreConfig): string {
  return resolve(dir, 'store.db')
}
