import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { block, choice, flag, integer, text } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Schema of `store`. */
export const storeSchema = block({
  enabled: v.optional(flag(), true),
  dir: v.optional(text()),
  retention_days: v.optional(integer(1, 3650, 'days of full resolution'), 7),
  rollup_retention_days: v.optional(integer(1, 3650, 'days of 5-minute roll-ups'), 90),
  max_bytes: v.optional(integer(16 << 20, 2 ** 50, 'bytes'), 8 * 2 ** 30),
  queue_bytes: v.optional(integer(1 << 20, 2 ** 36, 'bytes'), 64 << 20),
  durability: v.optional(choice(['interval', 'block']), 'interval'),
})

/** Settings of the store after checking. */
export type StoreConfig = v.InferOutput<typeof storeSchema>

const SYSTEM_DIR = '/var/lib/sonde'

/** Where data is kept when the configuration does not say: the system's place where it is writable, else the user's. */
export function defaultDataDir(): string {
  try {
    accessSync(SYSTEM_DIR, constants.W_OK)
    return SYSTEM_DIR
  } catch {
    // Not there or not ours: an ordinary user keeps data below the home directory.
    return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sonde')
  }
}
