import * as v from 'valibot'
import { closest } from './closest.ts'
import { withoutSecrets } from './secret.ts'

/** An error at one place of a configuration. Its message is `path fault; allowed: allowed`. */
export interface ConfigIssue {
  /** Key path such as `data_sources[0].interval_ms`. */
  readonly path: string
  /** The fault as the predicate of a sentence: `is "fast"`, `is missing`, `is an unknown key`. */
  readonly fault: string
  /** The allowed values, in words. */
  readonly allowed: string
}

/** A valid configuration, or all its errors. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] }

/** A whole number with a unit. Both bounds are allowed values. */
export function integer(min: number, max: number, unit: string) {
  const allowed = `a whole number from ${min} to ${max}${unit === '' ? '' : ` (${unit})`}`
  return v.pipe(v.number(allowed), v.integer(allowed), v.minValue(min, allowed), v.maxValue(max, allowed))
}

/** Text of a bounded length. */
export function boundedText(minLength = 1, maxLength = 1024) {
  const allowed = `text of ${minLength} to ${maxLength} characters`
  return v.pipe(v.string(allowed), v.minLength(minLength, allowed), v.maxLength(maxLength, allowed))
}

/** Text of a given form, which `words` describes: `a path such as /metrics`. */
export function pattern(form: RegExp, words: string) {
  return v.pipe(v.string(words), v.regex(form, words))
}

/** A text of a given form that is also a valid URL, so that its port exists. `others` lists further allowed texts. */
export function urlPattern(form: RegExp, words: string, others: readonly string[] = []) {
  return v.pipe(
    pattern(form, words),
    v.check((text) => others.includes(text) || URL.canParse(text), words),
  )
}

/** `true` or `false`. */
export function flag() {
  return v.boolean('true or false')
}

/** One of a few words. */
export function choice<const T extends readonly string[]>(words: T) {
  return v.picklist(words, `one of ${words.join(', ')}`)
}

/** An object with fixed keys: any other key is an error, which finds misspellings. */
export function block<const E extends v.ObjectEntries>(entries: E) {
  return v.strictObject(entries, `a block with the keys ${Object.keys(entries).join(', ')}`)
}

/** A block, or a list of at most `countMax` blocks with the same keys. Default: no block. */
export function oneOrMany<const E extends v.ObjectEntries>(
  entries: E,
  countMax: number,
): v.OptionalSchema<v.LazySchema<v.GenericSchema>, undefined> {
  const words = `a block with the keys ${Object.keys(entries).join(', ')}`
  const one = v.strictObject(entries, `${words}, or a list of at most ${countMax} of them`)
  const many = list(v.strictObject(entries, words), countMax, 'blocks')
  return v.optional(v.lazy((input): v.GenericSchema => (Array.isArray(input) ? many : one)))
}

/** Values by name; all names and all values have one form. `words` describes both. */
export function dictionary<S extends v.GenericSchema<string, string>>(name: RegExp, value: S, words: string) {
  return v.record(v.pipe(v.string(), v.regex(name, words)), value, words)
}

/** A decimal number with a unit. Both bounds are allowed values. */
export function decimal(min: number, max: number, unit: string) {
  const allowed = `a number from ${min} to ${max} (${unit})`
  return v.pipe(v.number(allowed), v.minValue(min, allowed), v.maxValue(max, allowed))
}

/** A list of at most `maxLength` elements. `words` names the elements in the plural. */
export function list<S extends v.GenericSchema>(item: S, maxLength: number, words = 'elements') {
  const allowed = `a list of at most ${maxLength} ${words}`
  return v.pipe(v.array(item, allowed), v.maxLength(maxLength, allowed))
}

/**
 * An optional key with its default and its purpose. The configuration reference prints the description.
 */
export function setting<const S extends v.GenericSchema, const D extends v.InferInput<S>>(
  schema: S,
  fallback: D,
  description: string,
) {
  return v.optional(v.pipe(schema, v.description(description)), fallback)
}

type Block<E extends v.ObjectEntries> = ReturnType<typeof block<E>>

/** A nested block. If it is absent or empty, all its defaults apply. */
export function section<const E extends v.ObjectEntries>(
  entries: E,
): v.NullishSchema<Block<E>, v.InferInput<Block<E>>> {
  // Named types: the inferred type cannot be checked in a declaration file.
  return v.nullish(block(entries), {} as v.InferInput<Block<E>>)
}

/** Checks a value against a schema; the key path of an error starts with `place`. No error shows a secret. */
export function check<S extends v.GenericSchema>(schema: S, value: unknown, place: string): Checked<v.InferOutput<S>> {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  const shown = withoutSecrets(schema, value)
  const known = result.issues?.filter((issue) => !isUnknownKey(issue)) ?? []
  const issues = known.map((issue) => issueOf(issue, { schema, place, shown }))
  issues.push(...unknownKeys(schema, shown, place))
  if (issues.length > 0) return { ok: false, issues }
  return { ok: true, value: result.output as v.InferOutput<S> }
}

/** The error of an unknown key, with the closest known key. */
export function unknownKey(path: string, value: unknown, allowed: readonly string[]): ConfigIssue {
  const meant = closest(path.slice(path.lastIndexOf('.') + 1), allowed)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return { path, fault: `is an unknown key, with ${show(value)}${hint}`, allowed: allowed.join(', ') }
}

/** A value for a message: JSON, at most 100 characters. */
export function show(value: unknown): string {
  if (typeof value === 'number') return String(value)
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 100)
  } catch {
    // A cyclic value, which only a YAML alias can make: JSON cannot write it.
    return 'a value that holds itself'
  }
}

/** The allowed values of a schema, in the words of its error message. */
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

/** The checked value; `shown` is the whole value without secrets. */
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
  // For a missing key, Valibot reports the block around it.
  return { path, fault: 'is missing', allowed: at === undefined ? issue.message : allowedAt(at) }
}

/** The schema for a key of a value; undefined if the schema of the value has no such key. */
function innerSchema(schema: v.GenericSchema, value: unknown, key: unknown): v.GenericSchema | undefined {
  const { entries, wrapped, item, getter } = schema as Parts
  const inner = wrapped ?? getter?.(value)
  if (inner !== undefined) return innerSchema(inner, value, key)
  return item ?? (entries?.[String(key)] as v.GenericSchema | undefined)
}

/** Finds all unknown keys. Valibot reports only the first unknown key of a block. */
function isUnknownKey(issue: Issue): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never'
}

function unknownKeys(schema: v.GenericSchema, value: unknown, place: string): ConfigIssue[] {
  const { entries, wrapped, item, getter } = schema as Parts
  if (getter !== undefined) return value === undefined ? [] : unknownKeys(getter(value), value, place)
  if (wrapped !== undefined) return unknownKeys(wrapped, value, place)
  const isBlock = schema.type === 'strict_object' && entries !== undefined
  if (Array.isArray(value)) {
    // For Valibot, a list is an object too.
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
