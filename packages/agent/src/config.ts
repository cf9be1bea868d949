import { block, type Checked, type ConfigIssue, check, choice, flag, integer, list, text } from '@sonde/sdk/config'
import * as v from 'valibot'
import { SOURCES } from './sources/registry.ts'
import type { SourceDefinition } from './sources/source.ts'

/** One entry of `data_sources` after checking. */
export interface DataSourceConfig {
  readonly name: string
  readonly definition: SourceDefinition
  readonly intervalMs: number
  /** The source's own keys. */
  readonly options: object
}

const interval = v.optional(integer(10, 3_600_000, 'milliseconds'))
const common = { name: v.optional(text(1, 64)), enabled: v.optional(flag(), true), interval_ms: interval }

/** Schema of `paths`: roots below which the kernel's files are read. */
export const pathsSchema = block({
  procfs: v.optional(text(), '/proc'),
  sysfs: v.optional(text(), '/sys'),
})

/** Schema of `export.prometheus`. */
export const prometheusSchema = block({
  host: v.optional(text(1, 255), '127.0.0.1'),
  port: v.optional(integer(0, 65_535, '0 is any free port'), 9394),
  path: v.optional(v.pipe(v.string(), v.regex(/^\/[A-Za-z0-9/_.-]*$/, 'a path such as /metrics')), '/metrics'),
  timestamps: v.optional(flag(), false),
  series_expiry_s: v.optional(integer(10, 86_400, 'seconds'), 300),
  series_limit: v.optional(integer(100, 10_000_000, 'series a type'), 50_000),
})

/** Schema of `export`. A sink is a block; those that can be several take a list. */
export const exportSchema = block({ prometheus: v.optional(prometheusSchema, {}) })

/** Schema of `limits`. */
export const limitsSchema = block({
  recent_window_s: v.optional(integer(10, 3600, 'seconds'), 300),
  recent_bytes: v.optional(integer(1 << 20, 2 ** 32, 'bytes'), 32 << 20),
  stream_clients: v.optional(integer(1, 10_000, 'open live streams'), 64),
  source_call_ms: v.optional(integer(100, 600_000, 'milliseconds'), 5000),
  source_flood_bytes: v.optional(integer(1 << 16, 2 ** 32, 'bytes of records a sample'), 16 << 20),
})

/** Schema of `log`. */
export const logSchema = block({
  level: v.optional(choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace']), 'info'),
})

/** What the agent reads from the configuration. */
export interface AgentConfig {
  readonly dataSources: readonly DataSourceConfig[]
  readonly paths: v.InferOutput<typeof pathsSchema>
  readonly export: v.InferOutput<typeof exportSchema>
  readonly limits: v.InferOutput<typeof limitsSchema>
}

/** The schema of one `data_sources` entry of a kind: the common keys and the source's own. */
export function dataSourceSchema(definition: SourceDefinition) {
  const own = definition.options as v.StrictObjectSchema<v.ObjectEntries, undefined>
  return block({ ...common, type: v.literal(definition.name), ...own.entries })
}

/** What runs where the configuration names no sources: every kind once, at its own period. */
export function defaultDataSources(definitions: readonly SourceDefinition[] = SOURCES): { type: string }[] {
  return definitions.map(({ name }) => ({ type: name }))
}

/**
 * Checks `data_sources`. The kind decides which keys an entry may have, so each entry is checked on its own.
 */
export function checkDataSources(
  input: unknown,
  definitions: readonly SourceDefinition[] = SOURCES,
): Checked<DataSourceConfig[]> {
  const entries = check(list(v.looseObject({}, 'a block with the key type'), 256), input, 'data_sources')
  if (!entries.ok) return entries
  const issues: ConfigIssue[] = []
  const sources: DataSourceConfig[] = []
  const names = new Set<string>()
  entries.value.forEach((entry: Record<string, unknown>, index) => {
    const place = `data_sources[${index}]`
    const definition = definitions.find(({ name }) => name === entry.type)
    if (definition === undefined) {
      const allowed = `one of ${definitions.map(({ name }) => name).join(', ')}`
      issues.push({ path: `${place}.type`, value: JSON.stringify(entry.type) ?? '', allowed })
      return
    }
    const checked = check(dataSourceSchema(definition), entry, place)
    if (!checked.ok) {
      issues.push(...checked.issues)
      return
    }
    const {
      name = definition.name,
      enabled,
      interval_ms = definition.intervalMs,
      type: _type,
      ...options
    } = checked.value
    if (names.has(name))
      issues.push({ path: `${place}.name`, value: JSON.stringify(name), allowed: 'a name that no other source has' })
    names.add(name)
    if (enabled) sources.push({ name, definition, intervalMs: interval_ms, options })
  })
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: sources }
}
