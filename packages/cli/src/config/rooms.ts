import {
  type AgentConfig,
  checkDataSources,
  checkExport,
  defaultDataSources,
  exportSchema,
  limitsSchema,
  logSchema,
  nativeSchema,
  pathsSchema,
  serviceSchema,
  tracebackSchema,
} from '@sonde/agent/config'
import {
  type AccessConfig,
  accessSchema,
  type ConsoleConfig,
  consoleSchema,
  type StoreConfig,
  storeSchema,
} from '@sonde/console/config'
import { type Checked, type ConfigIssue, check, unknownKey, withoutSecrets } from '@sonde/sdk/config'
import { type AutoscaleEntry, autoscaleEntries, autoscaleFaults, kubernetesSchema } from '../autoscale/config.ts'

/** All settings of the file, the environment and the command line. */
export interface SondeConfig {
  readonly agent: AgentConfig
  readonly store: StoreConfig
  readonly console: ConsoleConfig
  readonly access: AccessConfig
  readonly autoscale: readonly AutoscaleEntry[]
  readonly log: { readonly level: string }
}

/** Schemas of the top-level keys, each owned by its room. `data_sources` is checked entry by entry instead. */
export const ROOM_SCHEMAS = {
  paths: pathsSchema,
  native: nativeSchema,
  export: exportSchema,
  service: serviceSchema,
  traceback: tracebackSchema,
  store: storeSchema,
  console: consoleSchema,
  access: accessSchema,
  kubernetes: kubernetesSchema,
  limits: limitsSchema,
  log: logSchema,
} as const

/** All top-level keys. */
export const ROOM_KEYS: readonly string[] = ['data_sources', ...Object.keys(ROOM_SCHEMAS)]

/** A checked configuration, in the form that the rooms use and in the form that is printed. */
export interface CheckedRooms {
  readonly config: SondeConfig
  /** With every default filled in. */
  readonly plain: Readonly<Record<string, unknown>>
}

/** Checks the keys of all rooms, and collects every fault. */
export function checkRooms(raw: Readonly<Record<string, unknown>>): Checked<CheckedRooms> {
  const issues: ConfigIssue[] = Object.keys(raw)
    .filter((key) => !ROOM_KEYS.includes(key))
    .map((key) => unknownKey(key, raw[key], ROOM_KEYS))
  const take = <T>(checked: Checked<T>): T | undefined => {
    if (checked.ok) return checked.value
    issues.push(...checked.issues)
    return undefined
  }
  const sources = take(checkDataSources(raw.data_sources ?? defaultDataSources()))
  const paths = take(check(ROOM_SCHEMAS.paths, raw.paths ?? {}, 'paths'))
  const native = take(check(ROOM_SCHEMAS.native, raw.native ?? {}, 'native'))
  const exports = take(check(ROOM_SCHEMAS.export, raw.export ?? {}, 'export'))
  const destinations = exports && take(checkExport(exports))
  const store = take(check(ROOM_SCHEMAS.store, raw.store ?? {}, 'store'))
  const ofConsole = take(check(ROOM_SCHEMAS.console, raw.console ?? {}, 'console'))
  const access = take(check(ROOM_SCHEMAS.access, raw.access ?? {}, 'access'))
  const kubernetes = take(check(ROOM_SCHEMAS.kubernetes, raw.kubernetes ?? {}, 'kubernetes'))
  const autoscale = autoscaleEntries(kubernetes ?? {})
  issues.push(...autoscaleFaults(autoscale))
  const service = take(check(ROOM_SCHEMAS.service, raw.service ?? {}, 'service'))
  const traceback = take(check(ROOM_SCHEMAS.traceback, raw.traceback ?? {}, 'traceback'))
  const limits = take(check(ROOM_SCHEMAS.limits, raw.limits ?? {}, 'limits'))
  const log = take(check(ROOM_SCHEMAS.log, raw.log ?? {}, 'log'))
  if (
    !sources ||
    !paths ||
    !native ||
    !exports ||
    !destinations ||
    !service ||
    !store ||
    !ofConsole ||
    !access ||
    !kubernetes ||
    !traceback ||
    !limits ||
    !log ||
    issues.length > 0
  )
    return { ok: false, issues }
  const plain = {
    data_sources: sources.map(({ name, definition, enabled, intervalMs, options }) => {
      return { type: definition.name, name, enabled, interval_ms: intervalMs, ...options }
    }),
    paths,
    native,
    export: exports,
    service,
    traceback,
    store,
    console: ofConsole,
    access,
    kubernetes,
    limits,
    log,
  }
  const dataSources = sources.filter(({ enabled }) => enabled)
  return {
    ok: true,
    value: {
      config: {
        agent: { dataSources, paths: { ...paths, ...native }, export: exports, limits, service, traceback },
        ...{ store, console: ofConsole, access, autoscale, log },
      },
      plain: {
        ...plain,
        export: withoutSecrets(exportSchema, exports),
        console: withoutSecrets(consoleSchema, ofConsole),
        kubernetes: withoutSecrets(kubernetesSchema, kubernetes),
      },
    },
  }
}
