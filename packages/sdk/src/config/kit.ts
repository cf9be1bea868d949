import * as v from 'valibot'

/** One wrong place in a configuration. */
export interface ConfigIssue {
  /** Key path such as `data_sources[0].interval_ms`. */
  readonly path: string
  /** The value that stands there, as JSON; empty where the key is missing. */
  readonly value: string
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

/** A list of at most `maxLength`. */
export function list<S extends v.GenericSchema>(item: S, maxLength: number) {
  return v.pipe(v.array(item, 'a list'), v.maxLength(maxLength, `at most ${maxLength} elements`))
}

/** Checks a value against a schema; the key path of an issue begins with `place`. */
export function check<S extends v.GenericSchema>(schema: S, value: unknown, place: string): Checked<v.InferOutput<S>> {
  const result = v.safeParse(schema, value)
  if (result.success) return { ok: true, value: result.output }
  return { ok: false, issues: result.issues.map((issue) => issueOf(issue, place)) }
}

function issueOf(issue: v.BaseIssue<unknown>, place: string): ConfigIssue {
  const path = (issue.path ?? []).reduce((text, { key }) => {
    return typeof key === 'number' ? `${text}[${key}]` : `${text}${text === '' ? '' : '.'}${String(key)}`
  }, place)
  const unknownKey = issue.type === 'strict_object' && issue.expected === 'never'
  const missing = issue.input === undefined
  return {
    path,
    value: missing ? '' : (JSON.stringify(issue.input) ?? String(issue.input)).slice(0, 100),
    allowed: unknownKey ? `no such key; ${issue.message}` : issue.message,
  }
}
