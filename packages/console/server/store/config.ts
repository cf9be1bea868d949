import { SondeError } from '@sonde/sdk'

/** Options of `createStore`. */
export interface StoreOptions {
  /** The database file. Its folder is created; `-head`, `-wal`, `-shm` and `.lock` are placed beside it. */
  path: string
  /**
   * What acknowledged records survive. `interval` (default): a crash or kill of the process. `block`: power loss too,
   * because every commit waits for the disk.
   */
  durability?: 'interval' | 'block'
  /**
   * Memory of records that wait for the disk; beyond, the oldest are dropped and counted. Unit: bytes. Range: 1 MiB to
   * 4 GiB. Default: 64 MiB.
   */
  queueLimitBytes?: number
  /** How often accepted records are written. Unit: milliseconds. Range: 10 to 60 000. Default: 500. */
  flushIntervalMs?: number
  /** How long records are kept. Unit: days. Range: 1/24 to 36 500. Default: 7. */
  retentionDays?: number
  /** How long 5-minute roll-ups are kept. Unit: days. Range: 1/24 to 36 500. Default: 90. */
  rollupRetentionDays?: number
  /**
   * Size of history on disk; beyond, the oldest hours are deleted first, roll-ups last. Unit: bytes. Range: 4 MiB to
   * 2^50. Default: 8 GiB.
   */
  maxBytes?: number
  /** Number of series; records of further series are dropped and counted. Range: 1 to 4 000 000. Default: 200 000. */
  seriesLimit?: number
  /**
   * How long `close` waits for the disk; records not written by then are dropped and counted. Unit: milliseconds.
   * Default: 2 000.
   */
  closeLimitMs?: number
  /**
   * How long a question waits for its answer before it is refused with `STO_TIMEOUT`. Unit: milliseconds. Range: 1 to
   * 600 000. Default: 30 000.
   */
  queryLimitMs?: number
  /**
   * How long the disk may take to acknowledge a page before the status reports a failure. Unit: milliseconds. Range:
   * 100 to 600 000. Default: 5 000.
   */
  stallLimitMs?: number
}

/** Options with defaults filled in. */
export type StoreSettings = Readonly<Required<StoreOptions>>

const DEFAULTS = {
  durability: 'interval',
  queueLimitBytes: 64 << 20,
  flushIntervalMs: 500,
  retentionDays: 7,
  rollupRetentionDays: 90,
  maxBytes: 8 * 2 ** 30,
  seriesLimit: 200_000,
  closeLimitMs: 2000,
  queryLimitMs: 30_000,
  stallLimitMs: 5000,
} as const

const RANGES = {
  queueLimitBytes: [1 << 20, 2 ** 32],
  flushIntervalMs: [10, 60_000],
  retentionDays: [1 / 24, 36_500],
  rollupRetentionDays: [1 / 24, 36_500],
  maxBytes: [4 << 20, 2 ** 50],
  seriesLimit: [1, 4_000_000],
  closeLimitMs: [0, 600_000],
  queryLimitMs: [1, 600_000],
  stallLimitMs: [100, 600_000],
} as const

/**
 * Fills in the defaults.
 *
 * @throws SondeError `STO_OPTIONS` names the option, its value and the allowed values.
 */
export function storeSettings(options: StoreOptions): StoreSettings {
  const settings: StoreSettings = { ...DEFAULTS, ...options }
  if (typeof settings.path !== 'string' || settings.path === '') {
    throw new SondeError('STO_OPTIONS', 'path is empty; give the file of the store')
  }
  if (settings.durability !== 'interval' && settings.durability !== 'block') {
    throw new SondeError('STO_OPTIONS', `durability is ${String(settings.durability)}; allowed: interval, block`)
  }
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = settings[name as keyof typeof RANGES]
    if (!(value >= least && value <= most)) {
      throw new SondeError('STO_OPTIONS', `${name} is ${value}; allowed: ${least} to ${most}`)
    }
  }
  return Object.freeze(settings)
}

/** What happens to records while nothing can be written; the end of a sentence. */
export function keptSentence({ queueLimitBytes }: StoreSettings): string {
  return `what was reported is kept in memory up to ${Math.round(queueLimitBytes / 2 ** 20)} MiB and written then`
}
