import { createHash } from 'node:crypto'
import { join } from 'node:path'

const NAME_BYTES_LIMIT = 200
const HASH_CHARACTERS = 32
const NAME = /^(.*)(\d{16})\.bin$/

/** Folder of the schemas, below the root. */
export const SCHEMA_FOLDER = 'schema'

/** Whether files of records make something of that name below their root: years, schemas, marks, trials. */
export function isFilesName(name: string): boolean {
  return /^(\d{4}|schema|\.pages-.*|\.sonde-.*)$/.test(name)
}

/**
 * Text of a user as part of a path: bytes outside `A-Z a-z 0-9 . _ -`, a leading dot, and the dots of `..` become `%`
 * and two hex digits. At most 200 bytes: the end of a longer one is replaced by a hash, so that two stay two.
 */
export function pathName(text: string): string {
  const name = Buffer.from(text)
    .toString('latin1')
    .replace(/[^A-Za-z0-9._-]|^\.|\.{2,}/g, percent)
  if (name.length <= NAME_BYTES_LIMIT) return name
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARACTERS)
  // No escape is cut in two: `%` and one digit would be none.
  const kept = name.slice(0, NAME_BYTES_LIMIT - HASH_CHARACTERS - 1).replace(/%.?$/, '')
  return `${kept}-${hash}`
}

/** The folder of a source's files of a day, in UTC. A source without a name is in `%`, which no name becomes. */
export function sourceFolder(root: string, id: string, timeUs: number): string {
  const day = new Date(timeUs / 1000).toISOString()
  return join(root, day.slice(0, 4), `${day.slice(5, 7)}${day.slice(8, 10)}`, pathName(id) || '%')
}

/** Name of a file. */
export function fileName(tag: string, timeUs: number): string {
  return `${pathName(tag)}${String(timeUs).padStart(16, '0')}.bin`
}

/** The parts of a file name; undefined if it is not the name of a file of records. */
export function parseFileName(name: string): { readonly tag: string; readonly timeUs: number } | undefined {
  const [, tag, digits] = NAME.exec(name) ?? []
  return tag === undefined || digits === undefined ? undefined : { tag, timeUs: Number(digits) }
}

/** Name of the sidecar that has the types of a schema. */
export function schemaFileName(fingerprint: string): string {
  return `schema_${fingerprint}.json`
}

function percent(match: string): string {
  return [...match].map((byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
