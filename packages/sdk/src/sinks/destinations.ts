import { join, resolve } from 'node:path'
import { type Checked, type ConfigIssue, oneOrMany, show } from '../config/kit.ts'
import { type Spelling, spelled } from '../config/spelling.ts'
import { agentQueueEntries } from '../delivery/config.ts'
import { checkFolderIsFree } from '../delivery/disk-queue/open-folder.ts'
import type { CurrentSet } from '../fieldset/followed-sets.ts'
import { inlineSet } from '../fieldset/inline-set.ts'
import { userStateDir } from '../internal/user-dirs.ts'
import type { Batch } from '../schema/batch.ts'
import { type CommonOptions, commonEntries, commonEntriesWith } from './common-options.ts'
import { SINKS, type SinkContext, type SinkDefinition } from './registry.ts'
import { Route } from './route.ts'
import { camelValues, respelledEntries } from './spelled-entries.ts'
import { ThinnedSink } from './thinned-sink.ts'

/** Destinations of one kind at most. */
const COUNT_LIMIT = 16

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

function entryOf(sink: SinkDefinition, { spelling, isAgent }: DestinationRules) {
  const { entries, agentEntries = hasQueue(sink) ? { ...entries, ...agentQueueEntries } : entries } = sink
  const own = isAgent ? agentEntries : entries
  const common = isAgent ? commonEntriesWith(sink.agentRate ?? {}) : commonEntries
  return oneOrMany(respelledEntries({ ...common, ...own }, spelling), COUNT_LIMIT)
}

/**
 * The destinations of a block `export` that passed {@link exportEntries}, whichever are enabled: checked for what only
 * shows between them. `taken` are names that other sinks have.
 */
export function checkDestinations(
  exports: Readonly<Record<string, unknown>>,
  rules: DestinationRules,
  taken: readonly string[] = [],
): Checked<readonly Destination[]> {
  const destinations = SINKS.flatMap((definition) => destinationsOf(definition, exports, rules))
  const issues = [...destinations.flatMap((each) => optionIssues(each, rules)), ...rivalIssues(destinations, taken)]
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: destinations }
}

/** Options of one destination that do not go together. */
function optionIssues(
  { definition, options, common, place, enabled }: Destination,
  { spelling, isAgent }: DestinationRules,
): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  if (isAgent && common.acknowledges === true && definition.isDurable !== true && options.queueDir === undefined) {
    const allowed = `false: nothing of what ${definition.name} has survives a crash`
    issues.push({ path: `${place}.acknowledges`, fault: 'is true', allowed })
  }
  const isThinned = (common.intervalS ?? 0) > 0
  if (common.acknowledges === true && isThinned) {
    const key = spelled('intervalS', spelling)
    const allowed = `false: with ${key} it does not get every record`
    issues.push({ path: `${place}.acknowledges`, fault: 'is true', allowed })
  }
  const { seriesExpiryS } = options
  if (isThinned && typeof seriesExpiryS === 'number' && seriesExpiryS <= (common.intervalS ?? 0)) {
    const fault = `is ${seriesExpiryS}`
    const allowed = `more than ${spelled('intervalS', spelling)}, which is ${common.intervalS}: each series would end between two records`
    issues.push({ path: `${place}.${spelled('seriesExpiryS', spelling)}`, fault, allowed })
  }
  // Files of a destination that is not used need not be there.
  const clash = enabled ? definition.refuse?.(options) : undefined
  if (clash === undefined) return issues
  const { key, fault = `is ${show(options[key])}`, allowed } = clash
  return [...issues, { path: `${place}.${spelled(key, spelling)}`, fault, allowed }]
}

/** Names, and places where records are kept, that two destinations have. */
function rivalIssues(destinations: readonly Destination[], taken: readonly string[]): ConfigIssue[] {
  const names = new Map(taken.map((name) => [name, 'a view of the agent']))
  const kept = new Map<string, string>()
  return destinations.flatMap(({ definition, name, options, place, enabled }) => {
    const issues: ConfigIssue[] = []
    const namesake = names.get(name)
    if (namesake !== undefined)
      issues.push({ path: `${place}.name`, fault: `is ${show(name)}, as ${namesake} has it`, allowed: 'another name' })
    names.set(name, place)
    const { queueDir, deadLetters } = options
    const places = enabled ? [definition.place?.(options), ...[queueDir, deadLetters].map(folderOf)] : []
    for (const folder of places) {
      if (folder === undefined) continue
      const other = kept.get(folder)
      const fault = `keeps its records in ${folder}, as ${other} does`
      if (other !== undefined) issues.push({ path: place, fault, allowed: 'a place of its own' })
      kept.set(folder, place)
    }
    return issues
  })
}

function destinationsOf(
  definition: SinkDefinition,
  exports: Readonly<Record<string, unknown>>,
  { spelling, isAgent }: DestinationRules,
): Destination[] {
  const key = spelled(definition.name, spelling)
  const given = exports[key]
  if (given === undefined) return []
  const blocks = (Array.isArray(given) ? given : [given]) as Readonly<Record<string, unknown>>[]
  return blocks.map((block, index) => {
    const common = camelValues(definition.entries, block) as CommonOptions & Record<string, unknown>
    const { name = usualName(definition, index), enabled = true } = common
    const own = Object.fromEntries(Object.entries(common).filter(([key]) => !Object.hasOwn(commonEntries, key)))
    if (isAgent && hasQueue(definition) && definition.queueIsInMemory !== true)
      own.queueDir ??= join(userStateDir(), 'sonde', 'queues', name)
    const options = definition.complete?.(own) ?? own
    const place = Array.isArray(given) ? `export.${key}[${index}]` : `export.${key}`
    return { definition, name, enabled, options, common, place }
  })
}

/** The name of a destination without one. `index` is its place in a list. */
export function usualName({ name }: SinkDefinition, index: number): string {
  return index === 0 ? name : `${name}_${index + 1}`
}

/** Whether a destination is a push sink, whose queue may be on disk. */
export function hasQueue({ entries }: SinkDefinition): boolean {
  return Object.hasOwn(entries, 'queueDir')
}

function folderOf(path: unknown): string | undefined {
  return typeof path === 'string' ? resolve(path) : undefined
}

/**
 * Looks, before a program starts, for what would fail with every record.
 *
 * @throws SondeError with the cause.
 */
export async function prepareDestination({ definition, options }: Destination): Promise<void> {
  for (const folder of [options.queueDir, options.deadLetters])
    if (typeof folder === 'string') await checkFolderIsFree(folder)
  await definition.prepare?.(options)
}

/** Opens a destination. `setOf` gives the field set of a name. */
export function openDestination(
  { definition, name, options, common }: Destination,
  context: Omit<SinkContext, 'name'>,
  setOf: (name: string) => CurrentSet,
): Route {
  const { fieldSet, intervalS = 0, acknowledges, ...rest } = common
  const set = typeof fieldSet === 'string' ? setOf(fieldSet) : fieldSet && { current: inlineSet(fieldSet), fault: '' }
  const blocks = options.queuePolicy === 'block'
  const leavesOut = ({ type }: Batch) => definition.carries?.(type) === false
  const sink = definition.create(options, { ...context, name })
  const shared = { ...rest, blocks, fieldSet: set, leavesOut }
  if (intervalS === 0) return new Route(sink, { ...shared, ...(acknowledges === undefined ? {} : { acknowledges }) })
  return new Route(new ThinnedSink(sink, intervalS * 1000), { ...shared, acknowledges: false, intervalS })
}
