import { DOCA_HOST, defaultDataSources, devicePatterns, intervalMs, SOURCES } from '@sonde/agent/config'
import { type Checked, check, show } from '@sonde/sdk/config'
import { ConfigError } from './config-error.ts'
import type { CommandEnvironment } from './environment.ts'
import { numberOrText } from './setting.ts'

/** The source that taints the kernel. */
const DIAG = 'doca_telemetry_diag'
/** The source with the link errors, which the recipe expects from `ENABLE_DIAG`. */
const LINK_ERRORS = 'doca_telemetry_phy'

/** Variables of the recipe for Kubernetes that switch a source on or off. */
export const SWITCHES: Readonly<Record<string, string>> = {
  ENABLE_ADP_RETX: 'doca_telemetry_adp_retx',
  ENABLE_DIAG: DIAG,
  ENABLE_DPA: 'doca_telemetry_dpa',
  ENABLE_PCC: 'doca_telemetry_pcc',
  ENABLE_PCI: 'doca_telemetry_pci',
  ENABLE_PHY: 'doca_telemetry_phy',
}

const ANSWERS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false }
const DOCA_TYPES = SOURCES.filter(({ host }) => host === DOCA_HOST).map(({ name }) => name)

type DataSourceEntry = Record<string, unknown>

/** A key of an entry of `data_sources` that a variable sets. */
export interface EntrySetting {
  readonly entry: DataSourceEntry
  readonly key: string
  readonly value: unknown
  readonly origin: string
}

interface Recipe {
  readonly switches: readonly { readonly origin: string; readonly type: string; readonly isOn: boolean }[]
  readonly periodMs: number | undefined
  readonly devices: readonly string[] | undefined
}

/**
 * Changes `data_sources` by the variables of the recipe for Kubernetes: `ENABLE_…`, `TELEMETRY_INTERVAL_MS` and
 * `DOCA_DEVICES`. Returns the settings that they made.
 *
 * @throws ConfigError if a variable has a wrong value.
 */
export function applyRecipe(raw: DataSourceEntry, environment: CommandEnvironment): EntrySetting[] {
  const { switches, periodMs, devices } = readRecipe(environment)
  if (switches.length === 0 && periodMs === undefined && devices === undefined) return []
  const sources: unknown = raw.data_sources ?? defaultDataSources()
  // If the value is no list, the later check reports that.
  if (!Array.isArray(sources)) return []
  raw.data_sources = sources
  const settings: EntrySetting[] = []
  const set = (entry: DataSourceEntry, key: string, value: unknown, origin: string) => {
    entry[key] = value
    settings.push({ entry, key, value, origin })
  }
  for (const { origin, type, isOn } of switches) {
    const known = sources.filter(isDataSourceEntry).filter((entry) => entry.type === type)
    for (const entry of known) set(entry, 'enabled', isOn, origin)
    if (isOn && known.length === 0) {
      const entry: DataSourceEntry = {}
      sources.push(entry)
      known.push(entry)
      set(entry, 'type', type, origin)
    }
    // The variable asks for values that cannot be had without the taint.
    if (isOn && type === DIAG) for (const entry of known) set(entry, 'accept_taint', true, origin)
  }
  for (const entry of sources.filter(isDataSourceEntry)) {
    if (periodMs !== undefined && entry.interval_ms === undefined)
      set(entry, 'interval_ms', periodMs, 'TELEMETRY_INTERVAL_MS')
    if (devices !== undefined && DOCA_TYPES.includes(String(entry.type))) set(entry, 'devices', devices, 'DOCA_DEVICES')
  }
  return settings
}

function readRecipe(environment: CommandEnvironment): Recipe {
  const faults: string[] = []
  const take = <T>(checked: Checked<T>): T | undefined => {
    if (checked.ok) return checked.value
    faults.push(...checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; allowed: ${allowed}`))
    return undefined
  }
  const switches = Object.entries(SWITCHES).flatMap(([origin, type]) => {
    const text = environment[origin] ?? ''
    if (text === '') return []
    const isOn = Object.hasOwn(ANSWERS, text) ? ANSWERS[text] : undefined
    if (isOn !== undefined) return [{ origin, type, isOn }]
    faults.push(`${origin} is ${show(text)}; allowed: true, 1, false or 0`)
    return []
  })
  const diag = switches.find(({ origin, isOn }) => origin === 'ENABLE_DIAG' && isOn)
  if (diag !== undefined && !switches.some(({ type }) => type === LINK_ERRORS))
    switches.push({ ...diag, type: LINK_ERRORS })
  const { TELEMETRY_INTERVAL_MS: period = '', DOCA_DEVICES: names = '' } = environment
  const periodMs = period === '' ? undefined : take(check(intervalMs, numberOrText(period), 'TELEMETRY_INTERVAL_MS'))
  const listed = names.split(',').map((name) => name.trim())
  const given = listed.filter((name) => name !== '')
  const devices = given.length === 0 ? undefined : take(check(devicePatterns, given, 'DOCA_DEVICES'))
  if (faults.length > 0) throw new ConfigError(faults)
  return { switches, periodMs, devices }
}

function isDataSourceEntry(value: unknown): value is DataSourceEntry {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
