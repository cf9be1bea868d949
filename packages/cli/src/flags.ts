import { SondeError } from '@sonde/sdk'
import type { Command } from 'commander'
import { type Loaded, loadConfig, type Setting, scalarOf } from './config/load.ts'

/** Options that every running command takes. */
export interface CommonFlags {
  readonly config?: string
  readonly listen?: string
  readonly logLevel?: string
  readonly 'path.procfs'?: string
  readonly 'path.sysfs'?: string
}

/** Adds the common options to a command. */
export function withCommonFlags(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (YAML)')
    .option('--listen <host:port>', 'where to listen, e.g. 127.0.0.1:9394 or :0')
    .option('--log-level <level>', 'fatal, error, warn, info, debug or trace')
    .option('--path.procfs <dir>', 'root of the procfs that is read')
    .option('--path.sysfs <dir>', 'root of the sysfs that is read')
}

/** Loads the configuration that a command's options and the environment give. */
export function loadFor(flags: CommonFlags): Loaded {
  return loadConfig({ file: flags.config, flags: settingsOf(flags) })
}

function settingsOf(flags: CommonFlags): Setting[] {
  const settings: Setting[] = []
  if (flags.listen !== undefined) settings.push(...listenSettings(flags.listen))
  if (flags.logLevel !== undefined)
    settings.push({ path: ['log', 'level'], value: flags.logLevel, origin: '--log-level' })
  const { 'path.procfs': procfs, 'path.sysfs': sysfs } = flags
  if (procfs !== undefined) settings.push({ path: ['paths', 'procfs'], value: procfs, origin: '--path.procfs' })
  if (sysfs !== undefined) settings.push({ path: ['paths', 'sysfs'], value: sysfs, origin: '--path.sysfs' })
  return settings
}

/** `host:port`, `:port`, `[::1]:port`, or a port alone. */
function listenSettings(listen: string): Setting[] {
  const match = /^(?:(\[[0-9a-fA-F:.]+\]|[^:[\]]*):)?(\d+)$/.exec(listen)
  if (match === null)
    throw new SondeError('CLI_LISTEN', `--listen is ${JSON.stringify(listen)}; allowed: host:port, :port or a port`)
  const [, host = '', port = ''] = match
  const settings: Setting[] = [{ path: ['export', 'prometheus', 'port'], value: scalarOf(port), origin: '--listen' }]
  const name = host.replace(/^\[|\]$/g, '')
  if (name !== '') settings.push({ path: ['export', 'prometheus', 'host'], value: name, origin: '--listen' })
  return settings
}
