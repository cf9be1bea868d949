import { join } from 'node:path'
import { block, boundedText, flag, integer, setting } from '@sonde/sdk/config'
import { canBeSocketsDir, SOCKETS_DIR_RULE, userStateDir } from '@sonde/sdk/internal'
import * as v from 'valibot'

/** Schema of `service`. */
export const serviceSchema = block({
  enabled: setting(flag(), true, 'Whether applications of this machine can report to this agent; see [IPC](ipc.md)'),
  sockets_dir: v.optional(
    v.pipe(
      v.string(SOCKETS_DIR_RULE),
      v.check(canBeSocketsDir, SOCKETS_DIR_RULE),
      v.description(
        'Folder of the socket. Default: `/opt/mellanox/doca/services/telemetry/ipc_sockets` where it is writable, else `sonde` in `$XDG_RUNTIME_DIR`, else `sonde-<uid>` in the folder for temporary files',
      ),
    ),
  ),
  dir: v.optional(
    v.pipe(
      boundedText(),
      v.description(
        'Folder of the key by which the next service knows the same clients. Default: `sonde` in `$XDG_STATE_HOME` or `~/.local/state`',
      ),
    ),
  ),
  clients: setting(integer(1, 4096, 'clients'), 256, 'Clients at a time; further ones are refused and counted'),
  client_bytes: setting(
    integer(1 << 20, 2 ** 32, 'bytes'),
    64 << 20,
    'Memory for one client: records that are not yet acknowledged, 2 KiB for each page of them, types, symbols. With more records it is not read until the sinks are done; with more types or symbols it is refused',
  ),
  total_bytes: setting(
    integer(1 << 20, 2 ** 36, 'bytes'),
    2 ** 30,
    'The same for all clients together, or half of the queue of the store if that is less',
  ),
  client_bytes_per_s: setting(
    integer(1 << 10, 2 ** 36, 'bytes a second'),
    2 ** 30,
    'Bytes per second that one client may send; a faster client waits',
  ),
})

/** Settings of the service after checking. */
export type ServiceConfig = v.InferOutput<typeof serviceSchema>

/** Folder of the key where the configuration names none. */
export function defaultServiceDir(environment: NodeJS.ProcessEnv = process.env): string {
  return join(userStateDir(environment), 'sonde')
}

/** Bytes of one page at most: the longest record that a type may have. */
export const PAGE_BYTES = 1 << 20
/** Measured memory of an unacknowledged page here and in the sinks, beside its records. Unit: bytes. */
export const PAGE_MEMORY_OVERHEAD_BYTES = 2048
/** Pages that a client may have given up between two that it sends: twelve days of a million pages a second. */
export const GAP_PAGES = 2n ** 40n
/** Limit of types of a client: those of a schema, and the type of losses. */
export const TYPE_COUNT = 257
/** Limit of sources of a client: those of a schema, and the client itself, which reports losses. */
export const SOURCE_COUNT = 1025
/**
 * Symbols of all sources of a client together at most, without the first 32 of each and without the texts of text
 * fields.
 */
export const SYMBOL_COUNT = 65_536
