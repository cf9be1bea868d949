import * as v from 'valibot'
import { closest } from './closest.ts'
import { withoutSecrets } from './secret.ts'

/** One wrong place in a configuration. Read together: `path fault; allowed: allowed`. */
export interface ConfigIssue {
  /** Key path such as `data_sources[0].interval_ms`. */
  readonly path: string
  /** What stands there, as the predicate of a sentence: `is "fast"`, `is missing`, `is an unknown key`. */
  readonly fault: string
  /** What may stand there. */
  readonly allowed: string
}

/** A configuration that passed, or everything that is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] }

/** A whole number of a unit. Both bounds are allowed values. */
export function integer(min: number, max: number, unit: string) {
  const allowed = `a whole number from ${min} to ${max}${unit === '' ? '' : ` (${unit})`}`
  return v.pipe(v.number(allowed), v.integer(allowed), v.minValue(min, allowed), v.maxValue(max, allowed))
}

/** Text of a bounded length. */
export function text(minLength = 1, maxLength = 1024) {
  const allowed = `text of ${minLength} to ${maxLength} characters`
  return v.pipe(v.string(allowed), v.minLength(minLength, allowed), v.maxLength(maxLength, allowed))
}

/** Text of a given form, said in words such as `a path such as /metrics`. */
export function pattern(form: RegExp, words: string) {
  return v.pipe(v.string(words), v.regex(form, words))
}

/** `true` or `false`. */
export function flag() {
  return v.boolean('true or false')
}

/** One of a few words. */
export function choice<const T extends readonly string[]>(words: T) {
  return v.picklist(words, `one of ${words.join(', ')}`)
}

/** An object that knows all its keys: another one is an error, which catches misspellings. */
export function block<const E extends v.ObjectEntries>(entries: E) {
  return v.strictObject(entries, `a block with the keys ${Object.keys(entries).join(', ')}`)
}

/** A block, or a list of blocks with the same keys, at most `countMax`. Left out, there is none. */
export function oneOrMany<const E extends v.ObjectEntries>(
  entries: E,
  countMax: number,
): v.OptionalSchema<v.LazySchema<v.GenericSchema>, undefined> {
  const words = `a block with the keys ${Object.keys(entries).join(', ')}`
  const one = v.strictObject(entries, `${words}, or a list of at most ${countMax} of them`)
  const many = list(v.strictObject(entries, words), countMax, 'blocks')
  return v.optional(v.lazy((input): v.GenericSchema => (Array.isArray(input) ? many : one)))
}

/** Values by name, each of one form; names too. `words` says what a name and its value are. */
export function dictionary<S extends v.GenericSchema<string, string>>(name: RegExp, value: S, words: string) {
  return v.record(v.pipe(v.string(), v.regex(name, words)), value, words)
}

/** A number of a unit, with decimals. Both bounds are allowed values. */
export function decimal(min: number, max: number, unit: string) {
  const allowed = `a number from ${min} to ${max} (${unit})`
  return v.pipe(v.number(allowed), v.minValue(min, allowed), v.maxValue(max, allowed))
}

/** A list of at most `maxLength`. `words` names its elements in the plural. */
export function list<S extends v.GenericSchema>(item: S, maxLength: number, words = 'elements') {
  const allowed = `a list of at most ${maxLength} ${words}`
  return v.pipe(v.array(item, allowed), v.maxLength(maxLength, allowed))
}

/**
 * A key that may be left out: what holds then, and what it is for. The description is what the configuration reference
 * says.
 */
export function setting<const S extends v.GenericSchema, const D extends v.InferInput<S>>(
  schema: S,
  fallback: D,
  description: string,
) {
  return v.optional(v.pipe(schema, v.description(description)), fallback)
}

type Block<E extends v.ObjectEntries> = ReturnType<typeof block<E>>

/** A block below a block; left out, or there without content, it is all defaults. */
export function section<const E extends v.ObjectEntries>(
  entries: E,
): v.NullishSchema<Block<E>, v.InferInput<Block<E>>> {
  // Named types: the one that is inferred here cannot be checked in a declaration file.
  return v.nullish(block(entries), {} as v.InferInput<Block<E>>)
}

/** Checks a value against a schema; the key path of an issue begins with `place`. No issue shows a secret. */
export function check<S extends v.GenericSchema>(schema: S, value: unknown, place: string): Checked<v.InferOutput<S>> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  const shown = withoutSecrets(schema, value)
  const known = result.issues?.filter((issue) => !isUnknownKey(issue)) ?? []
  const issues = known.map((issue) => issueOf(issue, { schema, place, shown }))
  issues.push(...unknownKeys(schema, shown, place))
  if (issues.length > 0) return { ok: false, issues }
  return { ok: true, value: result.output as v.InferOutput<S> }
}

/** An issue about a key that does not exist, with the key that was perhaps meant. */
export function unknownKey(path: string, value: unknown, allowed: readonly string[]): ConfigIssue {
  const meant = closest(path.slice(path.lastIndexOf('.') + 1), allowed)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return { path, fault: `is an unknown key, with ${show(value)}${hint}`, allowed: allowed.join(', ') }
}

/** A value as it is written in a message: JSON, at most 100 characters. */
export function show(value: unknown): string {
  if (typeof value === 'number') return String(value)
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 100)
  } catch {
    // Only a YAML alias can do this: JSON has no word for it.
    return 'a value that holds itself'
  }
}

/** What may stand at a place, in the words of its error message. */
export function allowedAt(schema: v.GenericSchema): string {
  const { message } = schema as { message?: unknown }
  return typeof message === 'string' ? message : schema.expects
}

type Issue = v.BaseIssue<unknown>
type Parts = {
  readonly entries?: v.ObjectEntries
  readonly wrapped?: v.GenericSchema
  readonly item?: v.GenericSchema
  readonly getter?: (input: unknown) => v.GenericSchema
}

/** What was checked: `shown` is the whole value as it may be shown. */
interface Whole {
  readonly schema: v.GenericSchema
  readonly place: string
  readonly shown: unknown
}

function issueOf(issue: Issue, { schema, place, shown }: Whole): ConfigIssue {
  let [path, value, at]: [string, unknown, v.GenericSchema | undefined] = [place, shown, schema]
  for (const { key } of issue.path ?? []) {
    path = typeof key === 'number' ? `${path}[${key}]` : `${path}${path === '' ? '' : '.'}${String(key)}`
    at = at === undefined ? undefined : innerSchema(at, value, key)
    value = (value as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key as PropertyKey]
  }
  if (issue.input !== undefined) return { path, fault: `is ${show(value)}`, allowed: issue.message }
  // Of a key that is missing, Valibot says what the block around it is.
  return { path, fault: 'is missing', allowed: at === undefined ? issue.message : allowedAt(at) }
}

/** The schema of what a value has at a key; undefined if it says nothing of it. */
function innerSchema(schema: v.GenericSchema, value: unknown, key: unknown): v.GenericSchema | undefined {
  const { entries, wrapped, item, getter } = schema as Parts
  const inner = wrapped ?? getter?.(value)
  if (inner !== undefined) return innerSchema(inner, value, key)
  return item ?? (entries?.[String(key)] as v.GenericSchema | undefined)
}

/** Valibot reports the first unknown key of a block and stops there: they are looked for here instead, all of them. */
function isUnknownKey(issue: Issue): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never'
}

function unknownKeys(schema: v.GenericSchema, value: unknown, place: string): ConfigIssue[] {
  const { entries, wrapped, item, getter } = schema as Parts
  if (getter !== undefined) return value === undefined ? [] : unknownKeys(getter(value), value, place)
  if (wrapped !== undefined) return unknownKeys(wrapped, value, place)
  const isBlock = schema.type === 'strict_object' && entries !== undefined
  if (Array.isArray(value)) {
    // To Valibot a list is an object, too.
    if (isBlock) return [{ path: place, fault: `is ${show(value)}`, allowed: allowedAt(schema) }]
    return item === undefined ? [] : value.flatMap((each, index) => unknownKeys(item, each, `${place}[${index}]`))
  }
  if (!isBlock || value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, each]) => {
    const path = place === '' ? key : `${place}.${key}`
    const inner = Object.hasOwn(entries, key) ? entries[key] : undefined
    if (inner === undefined) return [unknownKey(path, each, Object.keys(entries))]
    return unknownKeys(inner as v.GenericSchema, each, path)
  })
}
