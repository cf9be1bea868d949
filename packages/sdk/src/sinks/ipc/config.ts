import { basename } from 'node:path'
import { SondeError, shown } from '../../errors.ts'
import { canBeSocketsDir, SOCKETS_DIR_RULE, usualSocketsDir } from './sockets-dir.ts'

/** Options of {@link createIpc}. */
export interface IpcOptions {
  /** Name of the sink in statistics; the component in its loss records. Default: `ipc`. */
  name?: string
  /**
   * Directory of the service's socket. Default: the vendor's `/opt/mellanox/doca/services/telemetry/ipc_sockets` where
   * it exists and is writable, else `$XDG_RUNTIME_DIR/sonde`, else `sonde-<uid>` in the directory for temporary files.
   */
  socketsDir?: string
  /**
   * How long the tries to reconnect that a report sets off may take together. Unit: milliseconds. Range: 1 to 60 000.
   * Default: 100.
   */
  reconnectTimeMs?: number
  /** Tries to connect in that time at most. Range: 1 to 255. Default: 3. */
  reconnectTries?: number
  /**
   * After this silence with unacknowledged pages, the service counts as gone. Also the limit of `flush` without a
   * service, and of `close`. Unit: milliseconds. Range: 10 to 600 000. Default: 3 000.
   */
  socketTimeoutMs?: number
  /**
   * Memory of the pages that are not acknowledged; beyond it the oldest is dropped as `spool_full`. Unit: bytes. Range:
   * 64 KiB to 16 GiB. Default: 64 MiB.
   */
  spoolBytes?: number
  /**
   * Pages that may lie in shared memory at once; further pages wait until the service has acknowledged some. Range: 0,
   * no shared memory, to 4096. Default: 256.
   */
  slots?: number
  /** Size of such a page; longer ones go through the socket. Unit: bytes. Range: 4 KiB to 16 MiB. Default: 64 KiB. */
  slotBytes?: number
  /**
   * Directory of shared memory; only one on tmpfs is used, and else that of the socket. The service of an agent takes
   * files from `/dev/shm` and from the directory of its socket, and from nowhere else. Default: `/dev/shm`.
   */
  sharedDir?: string
  /** Name of the schema that the sources belong to, for people. Default: empty. */
  schema?: string
  /** Name of this client at the service. Default: name of the script. */
  program?: string
}

/** Options with every default filled in. */
export type IpcConfig = Readonly<Required<IpcOptions>>

const RANGES = {
  reconnectTimeMs: { default: 100, min: 1, max: 60_000, unit: 'milliseconds' },
  reconnectTries: { default: 3, min: 1, max: 255, unit: 'tries' },
  socketTimeoutMs: { default: 3000, min: 10, max: 600_000, unit: 'milliseconds' },
  spoolBytes: { default: 64 << 20, min: 64 << 10, max: 16 * 2 ** 30, unit: 'bytes' },
  slots: { default: 256, min: 0, max: 4096, unit: 'slots' },
  slotBytes: { default: 64 << 10, min: 4 << 10, max: 16 << 20, unit: 'bytes' },
} as const

/** With the process id it names a source. */
const PROGRAM_CHARACTERS_MAX = 150

/** @throws SondeError `IPC_OPTION` with the option, its value and the allowed values. */
export function ipcConfig(options: IpcOptions): IpcConfig {
  const socketsDir = textOption('socketsDir', options.socketsDir, usualSocketsDir())
  if (!canBeSocketsDir(socketsDir)) throw refused('socketsDir', socketsDir, SOCKETS_DIR_RULE)
  const program = textOption('program', options.program, basename(process.argv[1] ?? 'node'))
  return Object.freeze({
    name: textOption('name', options.name, 'ipc'),
    socketsDir,
    sharedDir: textOption('sharedDir', options.sharedDir, '/dev/shm'),
    schema: textOption('schema', options.schema, '', PROGRAM_CHARACTERS_MAX),
    program: program.slice(0, PROGRAM_CHARACTERS_MAX),
    reconnectTimeMs: numberOption('reconnectTimeMs', options),
    reconnectTries: numberOption('reconnectTries', options),
    socketTimeoutMs: numberOption('socketTimeoutMs', options),
    spoolBytes: numberOption('spoolBytes', options),
    slots: numberOption('slots', options),
    slotBytes: numberOption('slotBytes', options),
  })
}

function textOption(option: string, given: string | undefined, otherwise: string, charactersMax = 4096): string {
  const text = given ?? otherwise
  if (typeof text === 'string' && text.length <= charactersMax) return text
  throw refused(option, given, `text of at most ${charactersMax} characters`)
}

function numberOption(option: keyof typeof RANGES, options: IpcOptions): number {
  const { default: otherwise, min, max, unit } = RANGES[option]
  const given = options[option] ?? otherwise
  if (Number.isInteger(given) && given >= min && given <= max) return given
  throw refused(option, given, `a whole number from ${min} to ${max} (${unit})`)
}

function refused(option: string, given: unknown, allowed: string): SondeError {
  return new SondeError('IPC_OPTION', `${option} of the sink ipc is ${shown(given)}; allowed: ${allowed}`)
}
