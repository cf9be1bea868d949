import {
  block,
  boundedText,
  type Checked,
  type ConfigIssue,
  check,
  choice,
  flag,
  integer,
  list,
  setting,
  show,
} from '@sonde/sdk/config'
import * as v from 'valibot'
import { SOURCES } from './registry.ts'
import type { ConfiguredSource, SourceDefinition } from './source.ts'

const DATA_SOURCES_LIMIT = 256

/** Schema of `interval_ms`. */
export const intervalMs = integer(10, 3_600_000, 'milliseconds')

/** A checked entry of `data_sources`. */
export interface DataSourceConfig extends ConfiguredSource {
  /** Location in the configuration: `data_sources[2]`; absent if a program made the entry. */
  readonly place?: string
}

/** The schema for `data_sources` entries of one kind: the common keys and the source's own keys. */
export function dataSourceSchema(definition: SourceDefinition) {
  const own = definition.options as v.StrictObjectSchema<v.ObjectEntries, undefined>
  return block({
    type: v.pipe(v.literal(definition.name, definition.name), v.description('Kind of source')),
    name: setting(boundedText(1, 64), definition.name, 'Name in labels, pages and logs; no two sources have the same'),
    enabled: setting(flag(), true, 'Whether it runs'),
    interval_ms: setting(intervalMs, definition.intervalMs, 'Time between two samples'),
    ...own.entries,
  })
}

/**
 * Sources that run without a `data_sources` section: every kind once with its own period, except kinds that run only on
 * request.
 */
export function defaultDataSources(definitions: readonly SourceDefinition[] = SOURCES): { type: string }[] {
  return definitions.filter(({ isOnRequest }) => isOnRequest !== true).map(({ name }) => ({ type: name }))
}

/** A valid entry of `data_sources`; it may be disabled. */
export interface CheckedDataSource extends DataSourceConfig {
  readonly enabled: boolean
}

/** Checks `data_sources`. The allowed keys depend on the kind, so each entry is checked separately. */
export function checkDataSources(
  input: unknown,
  definitions: readonly SourceDefinition[] = SOURCES,
): Checked<CheckedDataSource[]> {
  const entries = check(list(v.unknown(), DATA_SOURCES_LIMIT, 'sources'), input, 'data_sources')
  if (!entries.ok) return entries
  const issues: ConfigIssue[] = []
  const sources: CheckedDataSource[] = []
  const places = new Map<string, string>()
  entries.value.forEach((entry: unknown, index: number) => {
    const place = `data_sources[${index}]`
    const checked = checkDataSource(entry, place, definitions)
    if (!checked.ok) {
      issues.push(...checked.issues)
      return
    }
    const { name } = checked.value
    const taken = places.get(name)
    if (taken !== undefined)
      issues.push({
        path: `${place}.name`,
        fault: `is ${show(name)}, as ${taken} has it`,
        allowed: 'a name of its own',
      })
    places.set(name, place)
    sources.push(checked.value)
  })
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: sources }
}

function checkDataSource(
  entry: unknown,
  place: string,
  definitions: readonly SourceDefinition[],
): Checked<CheckedDataSource> {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry))
    return { ok: false, issues: [{ path: place, fault: `is ${show(entry)}`, allowed: 'a block with the key type' }] }
  const kind = choice(definitions.map(({ name }) => name))
  const type = check(kind, 'type' in entry ? entry.type : undefined, `${place}.type`)
  if (!type.ok) return type
  const definition = definitions.find(({ name }) => name === type.value) as SourceDefinition
  const checked = check(dataSourceSchema(definition), entry, place)
  if (!checked.ok) return checked
  const { type: _type, name, enabled, interval_ms, ...options } = checked.value
  return { ok: true, value: { name, definition, enabled, intervalMs: interval_ms, options, place } }
}
