import type { Command } from 'commander'
import { ConfigError } from './config/config-error.ts'
import { type Loaded, loadConfig } from './config/load.ts'
import { numberOf, type Setting } from './config/setting.ts'
import type { SimulateFlags } from './config/simulate.ts'

/** Options that commands take; those of `up` are left out by the others. */
export interface Flags extends SimulateFlags {
  readonly config?: string
  readonly listen?: string
  readonly logLevel?: string
  readonly 'path.procfs'?: string
  readonly 'path.sysfs'?: string
  readonly dataDir?: string
  readonly prometheus?: string
}

/** Flags that stand for one key each. */
const KEYS = [
  { name: 'logLevel', flag: '--log-level', path: ['log', 'level'] },
  { name: 'path.procfs', flag: '--path.procfs', path: ['paths', 'procfs'] },
  { name: 'path.sysfs', flag: '--path.sysfs', path: ['paths', 'sysfs'] },
  { name: 'dataDir', flag: '--data-dir', path: ['store', 'dir'] },
  { name: 'prometheus', flag: '--prometheus', path: ['console', 'prometheus', 'url'] },
] as const

/** Adds the common options to a command. */
export function withCommonFlags(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (YAML)')
    .option('--listen <host:port>', 'where to listen: 0.0.0.0:9394 for all; :9394 keeps to loopback')
    .option('--log-level <level>', 'fatal, error, warn, info, debug or trace')
    .option('--path.procfs <dir>', 'root of the procfs that is read')
    .option('--path.sysfs <dir>', 'root of the sysfs that is read')
}

/** Adds the options of the simulator to a command that runs sources, or looks at them. */
export function withSimulateFlags(command: Command): Command {
  return command
    .option('--simulate [scenarios]', 'add a simulated node; NAME[@DEVICE[:SEVERITY[:DELAY]]],… begin 10 s later')
    .option('--only-simulated', 'the simulated node alone, without real sources')
    .option('--seed <number>', 'what the simulated node is made of; default: 1')
    .option('--simulate-class <class>', 'kind of simulated node; default: hgx-h100')
}

/**
 * Loads the configuration that a command's options and the environment give.
 *
 * @param listener Block whose `host` and `port` are those of `--listen`.
 */
export function loadFor(flags: Flags, listener: readonly string[] = ['export', 'prometheus']): Loaded {
  const settings = KEYS.flatMap(({ name, flag, path }): Setting[] => {
    const value = flags[name]
    return value === undefined ? [] : [{ path, value, origin: flag }]
  })
  if (flags.listen !== undefined) settings.push(...listenSettings(flags.listen, listener))
  return loadConfig({ file: flags.config, flags: settings, simulate: flags })
}

/** `host:port`, `:port`, `[::1]:port`, or a port alone. */
function listenSettings(listen: string, listener: readonly string[]): Setting[] {
  const match = /^(?:(\[[0-9a-fA-F:.]+(?:%[\w.-]+)?\]|[^:[\]]*):)?(\d+)$/.exec(listen)
  if (match === null)
    throw new ConfigError([`--listen is ${JSON.stringify(listen)}; allowed: host:port, [IPv6]:port, :port or a port`])
  const [, host = '', port = ''] = match
  const settings: Setting[] = [{ path: [...listener, 'port'], value: numberOf(port), origin: '--listen' }]
  const name = host.replace(/^\[|\]$/g, '')
  if (name !== '') settings.push({ path: [...listener, 'host'], value: name, origin: '--listen' })
  return settings
}
