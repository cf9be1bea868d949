import type { ReadRecord } from '../schema/reader.ts'

/** A value in a record as it is read. */
type Value = ReadRecord[string]

/** The JSON of a number that JSON cannot write, or that the receiver cannot hold; undefined leaves its member out. */
export type SpecialNumber = (path: string, value: number | bigint) => string | undefined

const INT64_MAX = 2n ** 63n - 1n

/**
 * The members of a record as JSON, without the braces: whole numbers have all their digits. `special` writes NaN and
 * the infinities. With `isInt64`, it also writes numbers above 2^63-1. Half a surrogate pair becomes U+FFFD. Pure.
 */
export function recordMembers(
  record: Readonly<Record<string, Value | undefined>>,
  special: SpecialNumber,
  { isInt64 = false, path = '' }: { readonly isInt64?: boolean; readonly path?: string } = {},
): string {
  const write = (at: string, value: unknown): string | undefined => {
    if (typeof value === 'string') return JSON.stringify(value.toWellFormed())
    if (typeof value === 'bigint') return isInt64 && value > INT64_MAX ? special(at, value) : String(value)
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : special(at, value)
    if (typeof value !== 'object' || value === null) return String(value)
    // An element keeps its place in its list.
    if (Array.isArray(value)) return `[${value.map((each, i) => write(`${at}.${i}`, each) ?? 'null').join(',')}]`
    return `{${recordMembers(value as ReadRecord, special, { isInt64, path: `${at}.` })}}`
  }
  const members: string[] = []
  for (const [name, value] of Object.entries(record)) {
    const text = value === undefined ? undefined : write(`${path}${name}`, value)
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`)
  }
  return members.join(',')
}
