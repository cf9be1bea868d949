import { join } from 'node:path'
import { defaultDataDir, type StoreConfig } from '@sonde/console'

/** The file that history is kept in. */
export function storePath({ dir = defaultDataDir() }: StoreConfig): string {
  return join(dir, 'store.db')
}
