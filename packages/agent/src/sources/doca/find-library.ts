import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DocaPaths } from '../../native/doca/library.ts'

// Finds the libraries without loading them. The agent calls it in its own process, which runs no foreign code.

/** Names of the two libraries, the most likely first. */
const NAMES = {
  telemetry: ['libdoca_telemetry.so.2', 'libdoca_telemetry.so', 'libdoca_telemetry.so.3'],
  common: ['libdoca_common.so.2', 'libdoca_common.so', 'libdoca_common.so.3'],
} as const

const INSTALL = 'install doca-sdk-telemetry, or set its path with native.doca_library'

const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
/** DOCA has a prefix of its own outside of the folders of the system. */
const FOLDERS = [
  ...[`/opt/mellanox/doca/lib/${TRIPLET}`, '/opt/mellanox/doca/lib64', '/opt/mellanox/doca/lib'],
  ...[`/usr/lib/${TRIPLET}`, '/usr/lib64', '/usr/local/lib', '/usr/lib', `/lib/${TRIPLET}`, '/lib64', '/lib'],
]
const LOADER_FOLDER = '/etc/ld.so.conf.d'

/**
 * Finds the libraries.
 *
 * @param configured `native.doca_library`: path of the telemetry library, or the folder of both libraries. Empty: they
 * are searched.
 * @returns Their paths, or why there are none.
 */
export function findDocaLibrary(configured = ''): DocaPaths | string {
  if (configured !== '') return findAt(configured)
  const folders = foldersOfLoader()
  const telemetry = firstOf(folders, NAMES.telemetry)
  if (telemetry === undefined) return `no ${NAMES.telemetry[0]}: ${INSTALL}`
  return withCommon(telemetry, [dirname(telemetry), ...folders])
}

function findAt(configured: string): DocaPaths | string {
  const place = `native.doca_library ${JSON.stringify(configured)}`
  const isFolder = isFolderAt(configured)
  if (isFolder === undefined) return `${place}: nothing is there; ${INSTALL}`
  if (!isFolder) return withCommon(configured, [dirname(configured), ...foldersOfLoader()])
  const telemetry = firstOf([configured], NAMES.telemetry)
  return telemetry === undefined
    ? `${place}: no ${NAMES.telemetry[0]} in it; ${INSTALL}`
    : withCommon(telemetry, [configured])
}

/** Undefined if nothing is there, or if this user may not read it. */
function isFolderAt(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory()
  } catch {
    return undefined
  }
}

function withCommon(telemetry: string, folders: readonly string[]): DocaPaths | string {
  const common = firstOf(folders, NAMES.common)
  return common === undefined
    ? `no ${NAMES.common[0]} beside ${telemetry}: install doca-sdk-common`
    : { telemetry, common }
}

function firstOf(folders: readonly string[], names: readonly string[]): string | undefined {
  for (const folder of folders) {
    const name = names.find((one) => existsSync(join(folder, one)))
    if (name !== undefined) return join(folder, name)
  }
  return undefined
}

/** Folders that the loader of the system searches: those of the environment, those of packages, and the usual ones. */
function foldersOfLoader(): string[] {
  const given = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder.startsWith('/'))
  return [...new Set([...given, ...foldersOfPackages(), ...FOLDERS])]
}

function foldersOfPackages(): string[] {
  try {
    const files = readdirSync(LOADER_FOLDER).filter((name) => name.endsWith('.conf'))
    const lines = files.flatMap((name) => readFileSync(join(LOADER_FOLDER, name), 'utf8').split('\n'))
    return lines.map((line) => line.trim()).filter((line) => line.startsWith('/'))
  } catch {
    return []
  }
}
