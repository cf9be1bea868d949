import { ConfigError } from './config/config-error.ts'
import { type Loaded, loadConfig } from './config/load.ts'
import { numberOrText, type Setting } from './config/setting.ts'
import type { Flags } from './flags.ts'

/** Flags that each set one key. */
const KEYS = [
  { name: 'logLevel', flag: '--log-level', path: ['log', 'level'] },
  { name: 'path.procfs', flag: '--path.procfs', path: ['paths', 'procfs'] },
  { name: 'path.sysfs', flag: '--path.sysfs', path: ['paths', 'sysfs'] },
  { name: 'prometheus', flag: '--prometheus', path: ['console', 'prometheus', 'url'] },
] as const

/**
 * Loads the configuration from the options of a command and the environment.
 *
 * @param listener Block whose `host` and `port` `--listen` sets.
 */
export function loadFor(flags: Flags, listener: readonly string[] = ['export', 'prometheus']): Loaded {
  const settings = KEYS.flatMap(({ name, flag, path }): Setting[] => {
    const value = flags[name]
    return value === undefined ? [] : [{ path, value, origin: flag }]
  })
  if (flags.listen !== undefined) settings.push(...listenSettings(flags.listen, listener))
  return loadConfig({ file: flags.config, flags: settings, dataDir: flags.dataDir, simulate: flags })
}

/** `host:port`, `:port`, `[::1]:port`, or only a port. */
function listenSettings(listen: string, listener: readonly string[]): Setting[] {
  const match = /^(?:(\[[0-9a-fA-F:.]+(?:%[\w.-]+)?\]|[^:[\]]*):)?(\d+)$/.exec(listen)
  if (match === null)
    throw new ConfigError([`--listen is ${JSON.stringify(listen)}; allowed: host:port, [IPv6]:port, :port or a port`])
  const [, host = '', port = ''] = match
  const settings: Setting[] = [{ path: [...listener, 'port'], value: numberOrText(port), origin: '--listen' }]
  const name = host.replace(/^\[|\]$/g, '')
  if (name !== '') settings.push({ path: [...listener, 'host'], value: name, origin: '--listen' })
  return settings
}
