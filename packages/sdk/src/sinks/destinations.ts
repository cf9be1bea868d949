import * as v from 'valibot'
import { type Checked, type ConfigIssue, flag, list, oneOrMany, pattern, setting, show, text } from '../config/kit.ts'
import { respelled, type Spelling, snakeOf, spelled } from '../config/spelling.ts'
import { messageOf } from '../errors.ts'
import type { CurrentSet } from '../fieldset/followed-sets.ts'
import { inlineSet } from '../fieldset/inline-set.ts'
import { SINKS, type SinkContext, type SinkDefinition } from './registry.ts'
import { Route } from './route.ts'

/** Destinations of one kind at most. */
const COUNT_LIMIT = 16
const LINE_LIMIT = 4096
const FILTER_LIMIT = 64

/** Keys that every destination has: they belong to the way to it. */
export interface CommonOptions {
  /**
   * Name in statistics and messages: letters, digits, `_`, `-` and `.`, at most 64. Default: the kind; in a list from
   * the second on with its place, `jsonl_2`.
   */
  readonly name?: string
  /** Whether it is used. Default: true. */
  readonly enabled?: boolean
  /**
   * Fields that it is given: the name of a `.cset` or `.fset`, or the lines of one, of a `.fset` where the first is a
   * section such as `[port]`. Time and labels always come along. Default: all fields.
   */
  readonly fieldSet?: string | readonly string[]
  /** Sources that it is given, by name: `*` and `?` as in a shell, `!` leaves out. At most 64. Default: all. */
  readonly sources?: readonly string[]
  /** Tags of the sources that it is given; `counters` stands for those without. At most 64. Default: all. */
  readonly tags?: readonly string[]
  /** Whether `flush` of a program waits for it. Default: true. */
  readonly acknowledges?: boolean
}

const FIELD_SET_WORDS = 'the name of a field set, or the lines of one'

const commonEntries = {
  name: v.optional(
    v.pipe(
      pattern(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'a name of letters, digits, _, - and ., at most 64'),
      v.description(
        'Name in pages, logs and metrics; no two destinations have the same. Default: the kind; in a list from the second on with its place, such as `jsonl_2`',
      ),
    ),
  ),
  enabled: setting(flag(), true, 'Whether it is used'),
  fieldSet: v.optional(
    v.pipe(
      v.union(
        [
          pattern(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/, FIELD_SET_WORDS),
          v.pipe(list(text(0, 1024), LINE_LIMIT, 'lines'), v.rawCheck(checkLines)),
        ],
        FIELD_SET_WORDS,
      ),
      v.description(
        'Fields that it is given: the name of a [field set](prometheus.md#filters), or a list of the lines of one; time and labels come along. Default: all',
      ),
    ),
  ),
  sources: setting(
    list(pattern(/^!?[^!].{0,199}$/, 'a name or pattern such as nic, gpu* or !self'), FILTER_LIMIT, 'patterns'),
    [],
    'Names of the sources that it is given, `*` and `?` as in a shell; `!` first leaves sources out. Empty: all',
  ),
  tags: setting(
    list(text(1, 200), FILTER_LIMIT, 'tags'),
    [],
    'Tags of the applications that it is given; `counters` stands for what has no tag, as the sources of an agent. Empty: all',
  ),
  acknowledges: v.optional(
    v.pipe(
      flag(),
      v.description(
        'Whether an acknowledgement waits for it; see [delivery](delivery.md#acknowledged). Default: `true` where records that it has survive a crash',
      ),
    ),
  ),
}

/** The keys that belong to all kinds, as files have them. */
export const COMMON_KEYS: readonly string[] = Object.keys(commonEntries).map(snakeOf)

/** A destination that was configured. */
export interface Destination {
  readonly definition: SinkDefinition
  readonly name: string
  readonly enabled: boolean
  /** Its own options, as its definition takes them. */
  readonly options: Readonly<Record<string, unknown>>
  /** Those of every destination. */
  readonly common: CommonOptions
  /** Where it stands: `export.jsonl[1]`. */
  readonly place: string
}

/** How destinations are spelt, and which defaults they have. */
export interface DestinationRules {
  readonly spelling: Spelling
  readonly isAgent: boolean
}

/** Schema entries of all destinations, for a block `export`. */
export function exportEntries(rules: DestinationRules): Record<string, ReturnType<typeof oneOrMany>> {
  return Object.fromEntries(SINKS.map((sink) => [spelled(sink.name, rules.spelling), entryOf(sink, rules)]))
}

function entryOf({ entries, agentEntries = entries }: SinkDefinition, { spelling, isAgent }: DestinationRules) {
  const own = isAgent ? agentEntries : entries
  return oneOrMany(respelled({ ...commonEntries, ...own }, spelling) as v.ObjectEntries, COUNT_LIMIT)
}

/**
 * The destinations of a block `export` that passed {@link exportEntries}, whichever are enabled: checked for what only
 * shows between them. `taken` are names that other sinks have.
 */
export function checkDestinations(
  exports: Readonly<Record<string, unknown>>,
  { spelling, isAgent }: DestinationRules,
  taken: readonly string[] = [],
): Checked<readonly Destination[]> {
  const destinations = SINKS.flatMap((definition) => destinationsOf(definition, exports, spelling))
  const issues: ConfigIssue[] = []
  const names = new Map(taken.map((name) => [name, 'a view of the agent']))
  const places = new Map<string, string>()
  for (const { definition, name, options, common, place, enabled } of destinations) {
    if (isAgent && common.acknowledges === true && !definition.isDurable) {
      const allowed = `false: nothing of what ${definition.name} has survives a crash`
      issues.push({ path: `${place}.acknowledges`, fault: 'is true', allowed })
    }
    const clash = definition.refuse?.(options)
    if (clash !== undefined) {
      const { key, allowed } = clash
      issues.push({ path: `${place}.${spelled(key, spelling)}`, fault: `is ${show(options[key])}`, allowed })
    }
    const holder = names.get(name)
    if (holder !== undefined)
      issues.push({ path: `${place}.name`, fault: `is ${show(name)}, as ${holder} has it`, allowed: 'another name' })
    names.set(name, place)
    const kept = enabled ? definition.place?.(options) : undefined
    if (kept === undefined) continue
    const other = places.get(kept)
    if (other !== undefined)
      issues.push({
        path: place,
        fault: `keeps its records in ${kept}, as ${other} does`,
        allowed: 'a place of its own',
      })
    places.set(kept, place)
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: destinations }
}

function destinationsOf(
  definition: SinkDefinition,
  exports: Readonly<Record<string, unknown>>,
  spelling: Spelling,
): Destination[] {
  const key = spelled(definition.name, spelling)
  const given = exports[key]
  if (given === undefined) return []
  const blocks = (Array.isArray(given) ? given : [given]) as Readonly<Record<string, unknown>>[]
  return blocks.map((block, index) => {
    const common = respelled(block, 'camel') as CommonOptions & Record<string, unknown>
    const own = Object.fromEntries(Object.entries(common).filter(([name]) => !Object.hasOwn(commonEntries, name)))
    const options = definition.complete?.(own) ?? own
    const usual = index === 0 ? definition.name : `${definition.name}_${index + 1}`
    const { name = usual, enabled = true } = common
    const place = Array.isArray(given) ? `export.${key}[${index}]` : `export.${key}`
    return { definition, name, enabled, options, common, place }
  })
}

/** Opens a destination. `setOf` gives the field set of a name. */
export function openDestination(
  { definition, name, options, common }: Destination,
  context: Omit<SinkContext, 'name'>,
  setOf: (name: string) => CurrentSet,
): Route {
  const { fieldSet, ...rest } = common
  const set = typeof fieldSet === 'string' ? setOf(fieldSet) : fieldSet && { current: inlineSet(fieldSet), fault: '' }
  return new Route(definition.create(options, { ...context, name }), { ...rest, fieldSet: set })
}

function checkLines({ dataset, addIssue }: v.RawCheckContext<string[]>): void {
  if (!dataset.typed) return
  try {
    inlineSet(dataset.value)
  } catch (error) {
    addIssue({ message: `the lines of a field set; ${messageOf(error)}` })
  }
}
