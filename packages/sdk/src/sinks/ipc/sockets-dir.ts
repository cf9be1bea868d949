import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where DOCA's telemetry service has its sockets. */
const VENDOR_DIR = '/opt/mellanox/doca/services/telemetry/ipc_sockets'

/** Name of the service's socket in its directory. */
export const SOCKET_NAME = 'sonde.sock'

/** Name of the note that a service leaves in the usual directory where its own is another one: JSON `{ socketsDir, pid }`. */
export const NOTE_NAME = 'sonde-service.json'

/**
 * The usual directory of sockets: the vendor's where it exists and is writable, else `$XDG_RUNTIME_DIR/sonde`, else `sonde-<uid>` in the directory for temporary
 * files. Client and service find each other because both look here; it need not exist.
 */
export function usualSocketsDir(environment: NodeJS.ProcessEnv = process.env): string {
  if (isWritable(VENDOR_DIR)) return VENDOR_DIR
  const { XDG_RUNTIME_DIR: runtimeDir } = environment
  return runtimeDir ? join(runtimeDir, 'sonde') : join(tmpdir(), `sonde-${process.getuid?.() ?? 0}`)
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    // Not there, or not ours: the usual case.
    return false
  }
}
