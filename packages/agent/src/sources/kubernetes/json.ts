// Reads JSON of a server whose shape is not trusted: a member of another kind counts as absent.

const NOTHING: Readonly<Record<string, unknown>> = {}

/** Whether a value is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object in an object; empty if it is absent. */
export function objectAt(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return isObject(found) ? found : NOTHING
}

/** A text in an object; empty if it is absent. */
export function textAt(value: unknown, key: string): string {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return typeof found === 'string' ? found : ''
}

/** The objects in a list of an object; empty if it is absent. */
export function objectsAt(value: unknown, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** A quantity of Kubernetes without a suffix: a number, or its text. */
export function quantityFrom(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Parses JSON; undefined if it is none. */
export function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
