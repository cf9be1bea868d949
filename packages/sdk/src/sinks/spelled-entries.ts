import type { ObjectEntries } from 'valibot'
import { section } from '../config/kit.ts'
import { respelled, type Spelling, spelled } from '../config/spelling.ts'

/** Schema entries with their keys in the given spelling, and those of nested blocks too. */
export function respelledEntries(entries: ObjectEntries, spelling: Spelling): ObjectEntries {
  const all = Object.entries(entries).map(([key, entry]) => {
    const inner = innerEntries(entry)
    if (inner === undefined || Object.keys(inner).every((name) => spelled(name, spelling) === name)) return [key, entry]
    return [key, section(respelledEntries(inner, spelling))]
  })
  return respelled(Object.fromEntries(all), spelling)
}

/**
 * A checked block with its keys in camelCase, and those of nested blocks too. `entries` are its schema entries in
 * camelCase: they tell blocks from dictionaries, whose names belong to the user.
 */
export function camelValues(entries: ObjectEntries, block: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all = Object.entries(respelled(block, 'camel')).map(([key, value]) => {
    const inner = Object.hasOwn(entries, key) ? innerEntries(entries[key]) : undefined
    return [key, inner === undefined ? value : camelValues(inner, value as Readonly<Record<string, unknown>>)]
  })
  return Object.fromEntries(all)
}

/** The entries of a nested block; undefined for every other entry. */
function innerEntries(entry: unknown): ObjectEntries | undefined {
  const { wrapped } = entry as { readonly wrapped?: { readonly type: string; readonly entries?: ObjectEntries } }
  return wrapped?.type === 'strict_object' ? wrapped.entries : undefined
}
