import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where data of the machine is kept. */
const SYSTEM_STATE_DIR = '/var/lib'

/**
 * The user's folder of configuration; undefined if the user has no home, as a user of a container that no table of
 * users names.
 */
export function userConfigDir(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return folderOf(environment.XDG_CONFIG_HOME) ?? below(homeDir(), '.config')
}

/**
 * The user's folder of data that programs keep; without a home that of the machine, which is refused with its name
 * where it is not this user's.
 */
export function userStateDir(environment: NodeJS.ProcessEnv = process.env): string {
  return folderOf(environment.XDG_STATE_HOME) ?? below(homeDir(), '.local', 'state') ?? SYSTEM_STATE_DIR
}

/** The folder in an XDG variable; relative paths are ignored, as the XDG rules say. */
export function folderOf(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

function homeDir(): string | undefined {
  try {
    return homedir()
  } catch {
    // No HOME, and no line in the table of users.
    return undefined
  }
}

function below(folder: string | undefined, ...names: readonly string[]): string | undefined {
  return folder === undefined || !isAbsolute(folder) ? undefined : join(folder, ...names)
}
