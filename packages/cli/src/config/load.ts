import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { ConfigIssue } from '@sonde/sdk/config'
import { type ConfigFile, readConfigFile } from './file.ts'
import { leaves } from './leaves.ts'
import { checkRooms, type SondeConfig } from './rooms.ts'

/** Where configuration comes from. */
export interface ConfigSources {
  /**
   * `--config`; default: `SONDE_CONFIG` (empty: no file at all), then `sonde.yaml` in the user's and the system's place, where
   * there is one.
   */
  readonly file?: string | undefined
  /** Values of the command line by key path, with the flag that gave them. */
  readonly flags?: readonly Setting[]
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** One value from outside the file. */
export interface Setting {
  readonly path: readonly string[]
  readonly value: unknown
  /** What people call its origin: `--listen`, `SONDE_LOG_LEVEL`. */
  readonly origin: string
}

/** The configuration that holds, and where each value came from. */
export interface Loaded {
  readonly config: SondeConfig
  readonly plain: Readonly<Record<string, unknown>>
  readonly file: string | undefined
  /** Origin of the value at a key path such as `export.prometheus.port`. */
  originOf(path: string): string
}

/** Everything wrong with a configuration: one line each, with place, value and what is allowed. Exit code 2. */
export class ConfigError extends SondeError {
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super('CFG_INVALID', lines.join('\n'))
    this.lines = lines
  }
}

/**
 * Loads the configuration: command line over environment over file over defaults.
 *
 * @throws ConfigError with every wrong place at once.
 */
export function loadConfig({ file, flags = [], environment = process.env }: ConfigSources = {}): Loaded {
  const chosen = file ?? environment.SONDE_CONFIG
  const opened = file === undefined && chosen === '' ? undefined : openFile(chosen)
  const settings = [...environmentSettings(environment), ...flags]
  const raw = structuredClone(opened?.content ?? {}) as Record<string, unknown>
  for (const setting of settings) place(raw, setting)
  const checked = checkRooms(raw)
  if (!checked.ok) throw new ConfigError(checked.issues.map((issue) => describe(issue, opened, settings)))
  const { config, plain } = checked.value
  return { config, plain, file: opened?.path, originOf: (path) => originOf(path, opened, settings) }
}

function openFile(path: string | undefined): ConfigFile | undefined {
  const usual = [
    join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'sonde', 'sonde.yaml'),
    '/etc/sonde/sonde.yaml',
  ]
  const chosen = path ?? usual.find((candidate) => existsSync(candidate))
  if (chosen === undefined) return undefined
  try {
    return readConfigFile(chosen)
  } catch (error) {
    throw error instanceof SondeError ? new ConfigError([error.message]) : error
  }
}

/** Variables are text: what reads as a number, true or false is meant as one. */
function environmentSettings(environment: Readonly<Record<string, string | undefined>>): Setting[] {
  const known = leaves()
  const settings: Setting[] = []
  for (const { path, variable } of known) {
    const text = environment[variable]
    if (text !== undefined && text !== '') settings.push({ path, value: scalarOf(text), origin: variable })
  }
  return settings
}

/** Text from a flag or a variable as YAML would read it. */
export function scalarOf(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return text === 'true' ? true : text === 'false' ? false : text
}

function place(raw: Record<string, unknown>, { path, value }: Setting): void {
  let block = raw
  for (const key of path.slice(0, -1)) {
    const inner = block[key]
    const next =
      inner !== null && typeof inner === 'object' && !Array.isArray(inner) ? (inner as Record<string, unknown>) : {}
    block[key] = next
    block = next
  }
  const last = path.at(-1)
  if (last !== undefined) block[last] = value
}

function describe(issue: ConfigIssue, file: ConfigFile | undefined, settings: readonly Setting[]): string {
  const origin = originOf(issue.path, file, settings)
  const where = origin === 'default' ? '' : `${origin}: `
  return `${where}${issue.path}${issue.value === '' ? '' : ` is ${issue.value}`}; allowed: ${issue.allowed}`
}

function originOf(path: string, file: ConfigFile | undefined, settings: readonly Setting[]): string {
  const given = settings.findLast((setting) => setting.path.join('.') === path)
  if (given !== undefined) return given.origin
  if (file === undefined) return 'default'
  const keys = path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key))
  return isGiven(file.content, keys) ? `${file.path}:${file.lineOf(keys)}` : 'default'
}

function isGiven(content: unknown, keys: readonly (string | number)[]): boolean {
  let value = content
  for (const key of keys) {
    if (value === null || typeof value !== 'object' || !(key in value)) return false
    value = (value as Record<string | number, unknown>)[key]
  }
  return true
}
