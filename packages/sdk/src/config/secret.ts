import * as v from 'valibot'

/** What stands where a secret was. */
export const HIDDEN = '(secret)'

/** What kind of secret a key holds: all of its value, or those parts of a URL that may be. */
type Secrecy = 'whole' | 'url'

/** Marks a key whose value no message, page, metric or print-out may show. */
export function secret<S extends v.GenericSchema>(schema: S, secrecy: Secrecy = 'whole') {
  const isReal = (value: v.InferOutput<S>) => !JSON.stringify(value)?.includes(HIDDEN)
  return v.pipe(schema, v.check(isReal, `the secret itself, where a print-out has ${HIDDEN}`), v.metadata({ secrecy }))
}

type Parts = v.GenericSchema & {
  readonly entries?: v.ObjectEntries
  readonly wrapped?: v.GenericSchema
  readonly item?: v.GenericSchema
  readonly getter?: (input: unknown) => v.GenericSchema
}

/** A value as it may be shown: secrets are replaced, and what stands where a secret could have been meant. */
export function withoutSecrets(schema: v.GenericSchema, value: unknown): unknown {
  const { entries, wrapped, item, getter } = schema as Parts
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (getter !== undefined) return withoutSecrets(getter(value), value)
  if (wrapped !== undefined) return withoutSecrets(wrapped, value)
  const { secrecy } = v.getMetadata(schema) as { readonly secrecy?: Secrecy }
  if (secrecy !== undefined) return secrecy === 'url' ? shownUrl(value) : shownValues(value)
  if (item !== undefined && Array.isArray(value)) return value.map((each) => withoutSecrets(item, each))
  if (entries === undefined || !holdsSecret(schema)) return value
  if (Array.isArray(value)) return value.map(() => HIDDEN)
  if (typeof value !== 'object') return HIDDEN
  const shown = ([key, each]: [string, unknown]) => {
    const inner = Object.hasOwn(entries, key) ? entries[key] : undefined
    // A key that is misspelt may have been that of a secret.
    return [key, inner === undefined ? HIDDEN : withoutSecrets(inner as v.GenericSchema, each)]
  }
  return Object.fromEntries(Object.entries(value).map(shown))
}

/** A URL without what may be secret in it: name, password and query. */
export function shownUrl(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) return HIDDEN
  const { protocol, username, host, pathname, search } = url
  return `${protocol}//${username === '' ? '' : `${HIDDEN}@`}${host}${pathname}${search === '' ? '' : `?${HIDDEN}`}`
}

/** The names of a block of secrets stay. */
function shownValues(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return HIDDEN
  return Object.fromEntries(Object.keys(value).map((name) => [name, HIDDEN]))
}

function holdsSecret(schema: v.GenericSchema): boolean {
  const { entries, wrapped, item, getter } = schema as Parts
  if ('secrecy' in v.getMetadata(schema)) return true
  const inner = [wrapped, item, getter?.({}), ...Object.values(entries ?? {})]
  return inner.some((each) => each !== undefined && holdsSecret(each as v.GenericSchema))
}
