import { defaultDataSources, isFirstPortCounter, PAST_MAX_S, parseScenario, RULE_LIMITS } from '@sonde/agent/config'
import { messageOf, readTextFileNow } from '@sonde/sdk/internal'
import { ConfigError } from './config-error.ts'
import { numberOrText, type Setting } from './setting.ts'

/** Flags of the simulator. */
export interface SimulateFlags {
  /** `true`: a healthy node; a text: scenarios with commas between. */
  readonly simulate?: string | true
  /** Removes every other source. */
  readonly onlySimulated?: boolean
  readonly seed?: string
  readonly simulateClass?: string
  /** Length of the past that fills an empty history: `90s`, `10m`, `1h`; `0` for none. */
  readonly simulatePast?: string
}

type ConfigBlock = Record<string, unknown>

/** As many as the source accepts. */
const COUNTERS_MAX = 1024

/**
 * Adds the simulator to the configured sources, or changes the simulator that is among them. Returns the settings with
 * their origins.
 *
 * @throws ConfigError if a flag needs a simulator and there is none, and for unknown scenarios.
 */
export function addSimulator(raw: ConfigBlock, flags: SimulateFlags): Setting[] {
  const { simulate, onlySimulated = false, seed, simulateClass, simulatePast } = flags
  const given = raw.data_sources ?? defaultDataSources()
  // If the value is no list, the later check reports that.
  if (!Array.isArray(given)) return []
  const known = given.find(isSimulator)
  if (known === undefined && simulate === undefined && !onlySimulated) {
    const others = { '--seed': seed, '--simulate-class': simulateClass, '--simulate-past': simulatePast }
    const flag = Object.entries(others).find(([, value]) => value !== undefined)?.[0]
    if (flag !== undefined)
      throw new ConfigError([`${flag}: no simulator is asked for; allowed: together with --simulate`])
    return []
  }
  const entry: ConfigBlock = known ?? { type: 'simulator' }
  const others = given.filter((each) => each !== entry && !(onlySimulated && !isOfType(each, 'simulator_diag')))
  const sources = [...others, entry]
  raw.data_sources = sources
  const place = `data_sources[${sources.indexOf(entry)}]`
  const settings: Setting[] = []
  const set = (key: string, value: unknown, origin: string) => {
    entry[key] = value
    settings.push({ path: [place, key], value, origin })
  }
  if (known === undefined) set('type', 'simulator', onlySimulated ? '--only-simulated' : '--simulate')
  if (simulate !== undefined || onlySimulated) set('enabled', true, onlySimulated ? '--only-simulated' : '--simulate')
  if (typeof simulate === 'string') set('scenarios', scenariosIn(simulate), '--simulate')
  if (seed !== undefined) set('seed', numberOrText(seed), '--seed')
  if (simulateClass !== undefined) set('node_class', simulateClass, '--simulate-class')
  if (simulatePast !== undefined) set('past_s', pastSeconds(simulatePast), '--simulate-past')
  if (simulate !== undefined || onlySimulated) settings.push(...addSamples(raw, sources, entry))
  return settings
}

/** Options that make two sources show the same simulated node. */
const NODE_KEYS = ['seed', 'node_class', 'workload', 'scenarios', 'past_s'] as const

/**
 * Adds full-rate samples of the simulated NICs if rules watch them. If they are configured already, makes them show the
 * same node as the simulator.
 */
function addSamples(raw: ConfigBlock, sources: unknown[], simulator: ConfigBlock): Setting[] {
  let entry = sources.find((each): each is ConfigBlock => isOfType(each, 'simulator_diag'))
  if (entry === undefined) {
    const counters = watchedCounters(raw)
    if (counters.length === 0) return []
    entry = { type: 'simulator_diag', counters }
    sources.push(entry)
  }
  const place = `data_sources[${sources.indexOf(entry)}]`
  return ['type' as const, ...NODE_KEYS].flatMap((key): Setting[] => {
    const value = key === 'type' ? 'simulator_diag' : simulator[key]
    if (value === undefined) return []
    entry[key] = value
    return [{ path: [place, key], value, origin: '--simulate' }]
  })
}

/** Data IDs in the rules file of a configuration. The rules themselves are checked when they are loaded. */
function watchedCounters({ traceback }: ConfigBlock): string[] {
  const rules =
    traceback !== null && typeof traceback === 'object' && 'rules' in traceback ? traceback.rules : undefined
  if (typeof rules !== 'string' || rules === '') return []
  try {
    const fault = (_kind: string, why: string) => new ConfigError([`${rules} ${why}`])
    const text = readTextFileNow({ path: rules, limitBytes: RULE_LIMITS.fileBytes, fault })
    // A rule on counters that simulated NICs lack is reported at the rule, which then watches nothing.
    return [...new Set(text.match(/\b0x[0-9a-f]{16}\b/gi))].filter(isFirstPortCounter).slice(0, COUNTERS_MAX)
  } catch {
    return []
  }
}

/**
 * The scenarios of `--simulate`. Errors name the flag, because the user did not write the key of the configuration.
 */
function scenariosIn(simulate: string): string[] {
  const scenarios = simulate.split(',')
  const faults = scenarios.flatMap((text): string[] => {
    try {
      parseScenario(text)
      return []
    } catch (error) {
      return [`--simulate: ${messageOf(error)}`]
    }
  })
  if (faults.length > 0) throw new ConfigError(faults)
  return scenarios
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

function pastSeconds(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,6})([smhd])?$/.exec(text) ?? []
  const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS]
  if (seconds <= PAST_MAX_S) return seconds
  const allowed = '0, or a time such as 10m or 1h, at most 1d'
  throw new ConfigError([`--simulate-past is ${JSON.stringify(text.slice(0, 100))}; allowed: ${allowed}`])
}

function isSimulator(entry: unknown): entry is ConfigBlock {
  return isOfType(entry, 'simulator')
}

function isOfType(entry: unknown, type: string): entry is ConfigBlock {
  return entry !== null && typeof entry === 'object' && 'type' in entry && entry.type === type
}
