import * as v from 'valibot'

/** The text in place of a secret. */
export const HIDDEN = '(secret)'

/** The secret part of a value: all of it, the name, password and query of a URL, or all before the @ of an address. */
type Secrecy = 'whole' | 'url' | 'address'

/** Marks a key whose value must not appear in a message, page, metric or output. */
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

/** A value without secrets. Values of unknown keys are replaced too, because such a key may be a misspelt secret. */
export function withoutSecrets(schema: v.GenericSchema, value: unknown): unknown {
  const { entries, wrapped, item, getter } = schema as Parts
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (getter !== undefined) return withoutSecrets(getter(value), value)
  if (wrapped !== undefined) return withoutSecrets(wrapped, value)
  const { secrecy } = v.getMetadata(schema) as { readonly secrecy?: Secrecy }
  if (secrecy === 'url') return shownUrl(value)
  if (secrecy === 'address') return shownAddress(value)
  if (secrecy !== undefined) return shownValues(value)
  if (item !== undefined && Array.isArray(value)) return value.map((each) => withoutSecrets(item, each))
  if (entries === undefined || !holdsSecret(schema)) return value
  if (Array.isArray(value)) return value.map(() => HIDDEN)
  if (typeof value !== 'object') return HIDDEN
  const shown = ([key, each]: [string, unknown]) => {
    const inner = Object.hasOwn(entries, key) ? entries[key] : undefined
    // An unknown key may be the misspelt key of a secret.
    return [key, inner === undefined ? HIDDEN : withoutSecrets(inner as v.GenericSchema, each)]
  }
  return Object.fromEntries(Object.entries(value).map(shown))
}

/** A URL without its possible secrets: name, password and query. */
export function shownUrl(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) return HIDDEN
  const { protocol, username, host, pathname, search } = url
  return `${protocol}//${username === '' ? '' : `${HIDDEN}@`}${host}${pathname}${search === '' ? '' : `?${HIDDEN}`}`
}

/** A host, with or without a port, without the credentials that somebody wrote before it. */
export function shownAddress(value: unknown): string {
  return typeof value === 'string' ? value.replace(/^.*@/s, `${HIDDEN}@`) : HIDDEN
}

/** Replaces the values of a block of secrets and keeps its names. */
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
