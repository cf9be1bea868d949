import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigIssue } from '@sonde/sdk/config'
import { userConfigDir } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'
import { moveData } from './data-dir.ts'
import { type CommandEnvironment, environmentSettings } from './environment.ts'
import { addExpFiles } from './exp-files.ts'
import { type ConfigFile, readConfigFile } from './file.ts'
import { applyRecipe, type EntrySetting } from './recipe.ts'
import { checkRooms, type SondeConfig } from './rooms.ts'
import type { Setting } from './setting.ts'
import { addSimulator, type SimulateFlags } from './simulate.ts'

/** The origins of configuration. */
export interface ConfigSources {
  /**
   * `--config`; default: `SONDE_CONFIG` (empty: no file), then `sonde.yaml` in the folder of the user and in that of
   * the system, if it exists.
   */
  readonly file?: string | undefined
  /** Values of the command line by key path, with the flag that set them. */
  readonly flags?: readonly Setting[]
  /** `--data-dir`. */
  readonly dataDir?: string | undefined
  readonly simulate?: SimulateFlags
  /** Default: the environment of this process. */
  readonly environment?: CommandEnvironment
}

/** The effective configuration, and the origin of each value. */
export interface Loaded {
  readonly config: SondeConfig
  /** With every default filled in, in the form of the file. */
  readonly plain: Readonly<Record<string, unknown>>
  readonly file: string | undefined
  /**
   * Origin of the value at a key path such as `export.prometheus.port`: a flag, a variable, `file:line`, or `default`.
   */
  originOf(path: string): string
}

/**
 * Loads the configuration: command line over environment over file over defaults.
 *
 * @throws ConfigError with all faults at once.
 */
export function loadConfig(sources: ConfigSources = {}): Loaded {
  const { file: path, flags = [], dataDir, simulate = {}, environment = process.env } = sources
  const chosen = path ?? environment.SONDE_CONFIG ?? usualFile(environment)
  const file = chosen === undefined || (path === undefined && chosen === '') ? undefined : readConfigFile(chosen)
  const settings = [...environmentSettings(environment), ...flags]
  const raw = structuredClone(file?.content ?? {}) as Record<string, unknown>
  const hidden = settings.filter((setting) => !place(raw, setting))
  if (hidden.length > 0) throw new ConfigError(hidden.map(listFault))
  if (dataDir !== undefined) settings.push(...moveData(raw, dataDir))
  settings.push(...addExpFiles(raw, environment, (path) => originOf(path, file, settings)))
  const recipe = applyRecipe(raw, environment)
  settings.push(...addSimulator(raw, simulate))
  // The simulator moves entries, and may remove some.
  settings.push(...placed(raw, recipe))
  const checked = checkRooms(raw)
  if (!checked.ok) throw new ConfigError(checked.issues.map((issue) => describe(issue, file, settings)))
  return { ...checked.value, file: file?.path, originOf: (path) => originOf(path, file, settings) ?? 'default' }
}

/** The final positions of the entries. */
function placed(raw: Record<string, unknown>, settings: readonly EntrySetting[]): Setting[] {
  const sources = Array.isArray(raw.data_sources) ? raw.data_sources : []
  return settings.flatMap(({ entry, key, value, origin }) => {
    const index = sources.indexOf(entry)
    return index < 0 ? [] : [{ path: [`data_sources[${index}]`, key], value, origin }]
  })
}

function usualFile(environment: CommandEnvironment): string | undefined {
  const own = userConfigDir(environment)
  const places = own === undefined ? ['/etc'] : [own, '/etc']
  return places.map((place) => join(place, 'sonde', 'sonde.yaml')).find((candidate) => existsSync(candidate))
}

/**
 * Sets a value at its path. Returns false if the file has a list of blocks there, because no block of it is meant.
 * Other wrong values in the path are left, so that the check reports them.
 */
function place(raw: Record<string, unknown>, { path, value }: Setting): boolean {
  let block = raw
  for (const key of path.slice(0, -1)) {
    block[key] ??= {}
    const inner = block[key]
    if (Array.isArray(inner)) return false
    if (typeof inner !== 'object') return true
    block = inner as Record<string, unknown>
  }
  const last = path.at(-1)
  if (last !== undefined) block[last] = value
  return true
}

function listFault({ path, origin }: Setting): string {
  const list = path.slice(0, -1).join('.')
  return `${origin}: ${path.join('.')} is given, and the file has a list there; allowed: the keys of one block, so write it into the list of ${list}`
}

function describe({ path, fault, allowed }: ConfigIssue, file: ConfigFile | undefined, settings: readonly Setting[]) {
  const place =
    originOf(path, file, settings) ??
    blockOrigin(path, settings) ??
    (file === undefined ? undefined : lineIn(file, keysOf(path)))
  const subject = place === undefined ? path : place.startsWith('--') ? place : `${place}: ${path}`
  return `${subject} ${fault}; allowed: ${allowed}`
}

/** The origin of the block that a key is missing in, if the block does not come from the file. */
function blockOrigin(path: string, settings: readonly Setting[]): string | undefined {
  return settings.find((setting) => path.startsWith(`${setting.path.join('.')}.`))?.origin
}

/** The origin of a value; undefined if nothing set it. */
function originOf(path: string, file: ConfigFile | undefined, settings: readonly Setting[]): string | undefined {
  const given = settings.findLast(
    (setting) => path === setting.path.join('.') || path.startsWith(`${setting.path.join('.')}[`),
  )
  if (given !== undefined) return given.origin
  const keys = keysOf(path)
  return file !== undefined && isGiven(file.content, keys) ? lineIn(file, keys) : undefined
}

function lineIn(file: ConfigFile, keys: readonly (string | number)[]): string {
  return `${file.path}:${file.lineOf(keys)}`
}

function keysOf(path: string): (string | number)[] {
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '')
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key))
}

function isGiven(content: unknown, keys: readonly (string | number)[]): boolean {
  let value = content
  for (const key of keys) {
    if (value === null || typeof value !== 'object' || !(key in value)) return false
    value = (value as Record<string | number, unknown>)[key]
  }
  return true
}
