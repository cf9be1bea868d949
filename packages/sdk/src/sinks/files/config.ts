import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { checkOptions } from '../../config/check-options.ts'
import { boundedText, choice, decimal, integer, setting } from '../../config/kit.ts'
import { SondeError, shown } from '../../errors.ts'
import { userStateDir } from '../../internal/user-dirs.ts'
import type { RecordType } from '../../schema/record-type.ts'

/**
 * The durability of flushed records. `none`, `interval`: written to the file, which survives the end of the process but
 * not of the machine; with `interval`, records older than `intervalMs` are on the disk. `block`: on the disk.
 */
export type FilesDurability = (typeof DURABILITIES)[number]

const DURABILITIES = ['none', 'interval', 'block'] as const

/** What happens to closed files: nothing, or their blocks are merged and compressed. Every reader knows both. */
export type FilesCompression = (typeof COMPRESSIONS)[number]

const COMPRESSIONS = ['none', 'deflate'] as const

/** Options of {@link createFiles}. */
export interface FilesOptions {
  /** Folder below which files are written; made where it is not there. Default: {@link defaultDataRoot}. */
  dataRoot?: string | undefined
  /**
   * Size of a file, which only a block that is larger alone exceeds. Unit: bytes. Range: 4 KiB to 1 TiB. Default:
   * 1 MiB.
   */
  maxBytes?: number | undefined
  /**
   * Age at which a file is closed, by a clock that only rises. Unit: microseconds. Range: 1 000 000 to
   * 31 536 000 000 000 (a year). Default: 3 600 000 000 (an hour).
   */
  maxAgeUs?: number | undefined
  /** See {@link FilesDurability}. Default: `interval`. */
  durability?: FilesDurability | undefined
  /**
   * How often the disk is asked to have everything, with durability `interval`. Unit: milliseconds. Range: 10 to
   * 3 600 000. Default: 1000.
   */
  intervalMs?: number | undefined
  /**
   * Limit of all files below `dataRoot`; above it, the oldest closed files are removed. Unit: bytes. Range: 1 to 1 PiB;
   * 0 (default): no limit.
   */
  retentionBytes?: number | undefined
  /** Age at which a closed file is removed. Unit: days. Range: up to 36 500; 0 (default): no limit. */
  retentionDays?: number | undefined
  /** See {@link FilesCompression}. Default: `none`; in an agent `deflate`. */
  compression?: FilesCompression | undefined
  /**
   * Memory for records that wait to be written; further records are dropped as `queue_full`. Unit: bytes. Range: 64 KiB
   * to 16 GiB. Default: 64 MiB.
   */
  queueLimitBytes?: number | undefined
  /**
   * Descriptors at a time; beyond, that of the file used longest ago is closed until it is needed. Range: 1 to 100 000.
   * Default: 256.
   */
  openFilesMax?: number | undefined
  /**
   * A file without records for this long, and for three periods of its source, is closed. Unit: seconds. Range: 1 to
   * 86 400. Default: 300.
   */
  idleS?: number | undefined
  /**
   * Types that every file begins with, used or not: those of a schema; left out where they would take more than a
   * quarter of it. At most 200; others follow when they are first used. Default: none.
   */
  types?: readonly RecordType[] | undefined
  /** Name of the schema, for readers. Default: empty. */
  schema?: string | undefined
  /** Version of the program, for readers. Default: empty. */
  version?: string | undefined
  /** Name of the sink in statistics. Default: `files`. */
  name?: string | undefined
  /**
   * The wall clock: names of folders and files. Unit: microseconds since the Unix epoch. Default: that of the machine.
   */
  nowUs?: (() => number) | undefined
  /** A clock that only rises: ages. Unit: milliseconds. Default: that of the process. */
  nowMs?: (() => number) | undefined
}

/** Options with every default filled in. */
export type FilesConfig = { readonly [K in keyof FilesOptions]-?: NonNullable<FilesOptions[K]> }

/** Where DOCA's telemetry keeps its files. */
const VENDOR_DIR = '/opt/mellanox/doca/services/telemetry/data'
const TYPE_COUNT_LIMIT = 200

/**
 * Where files are written when nobody says: the vendor's folder where it exists and is writable, else `sonde/data`
 * below `$XDG_STATE_HOME`.
 */
export function defaultDataRoot(environment: NodeJS.ProcessEnv = process.env): string {
  try {
    accessSync(VENDOR_DIR, constants.W_OK | constants.X_OK)
    return VENDOR_DIR
  } catch {
    // Not there, or not ours: the usual case.
    return join(userStateDir(environment), 'sonde', 'data')
  }
}

function retentionEntries({ bytes, days }: { readonly bytes: number; readonly days: number }) {
  return {
    retentionBytes: setting(
      integer(0, 2 ** 50, 'bytes, 0 is no limit'),
      bytes,
      'Size of all files below the folder; beyond, the oldest closed ones are removed',
    ),
    retentionDays: setting(decimal(0, 36_500, 'days, 0 is no limit'), days, 'How long closed files are kept'),
  }
}

function compressionEntry(usual: FilesCompression) {
  return setting(
    choice(COMPRESSIONS),
    usual,
    'Whether closed files are compressed; records of different types then change places within 1 MiB',
  )
}

function maxBytesEntry(bytes: number) {
  return setting(integer(4096, 2 ** 40, 'bytes'), bytes, 'Size of a file; then the next one begins')
}

/** Keys of files in a configuration. */
export const filesEntries = {
  dataRoot: v.optional(
    v.pipe(
      boundedText(),
      v.check((path) => !path.includes('\0'), 'the path of a folder'),
      v.description(
        'Folder of the files. Default: `/opt/mellanox/doca/services/telemetry/data` where it is writable, else `sonde/data` in `$XDG_STATE_HOME` or `~/.local/state`',
      ),
    ),
  ),
  maxBytes: maxBytesEntry(1 << 20),
  maxAgeUs: setting(
    integer(1_000_000, 31_536_000_000_000, 'microseconds'),
    3_600_000_000,
    'Age of a file; then the next one begins',
  ),
  durability: setting(
    choice(DURABILITIES),
    'interval',
    'What acknowledged records survive: `none` and `interval` a crash of the process; `block` power loss too, because every write waits for the disk',
  ),
  intervalMs: setting(
    integer(10, 3_600_000, 'milliseconds'),
    1000,
    'How often the disk is asked to take everything, with durability `interval`',
  ),
  compression: compressionEntry('none'),
  ...retentionEntries({ bytes: 0, days: 0 }),
  queueLimitBytes: setting(
    integer(64 << 10, 16 * 2 ** 30, 'bytes'),
    64 << 20,
    'Memory of all that waits to be written; what finds no room is dropped',
  ),
  openFilesMax: setting(integer(1, 100_000, 'files'), 256, 'Descriptors at a time'),
  idleS: setting(
    integer(1, 86_400, 'seconds'),
    300,
    'A file without records for this long, and for three periods of its source, is closed',
  ),
}

/**
 * The defaults in an agent, which compresses its closed files and removes old ones. A program does neither: other
 * programs may need the files as they are.
 */
export const agentFilesEntries = {
  ...filesEntries,
  compression: compressionEntry('deflate'),
  maxBytes: maxBytesEntry(64 << 20),
  ...retentionEntries({ bytes: 8 * 2 ** 30, days: 7 }),
}

/** @throws SondeError `FIL_OPTION` with the option, its value and the allowed values. */
export function filesConfig(options: FilesOptions): FilesConfig {
  const { types = [], schema = '', version = '', name = 'files', nowUs, nowMs } = options
  if (types.length > TYPE_COUNT_LIMIT) {
    const allowed = `at most ${TYPE_COUNT_LIMIT} types`
    throw new SondeError('FIL_OPTION', `types of the files is ${shown(types)}; allowed: ${allowed}`)
  }
  const { dataRoot = defaultDataRoot(), ...rest } = checkOptions(filesEntries, options, 'FIL_OPTION', ' of the files')
  return Object.freeze({
    ...rest,
    dataRoot: resolve(dataRoot),
    types: [...types],
    schema,
    version,
    name,
    nowUs: nowUs ?? (() => Date.now() * 1000),
    nowMs: nowMs ?? (() => performance.now()),
  })
}
