import type { SQLInputValue } from 'node:sqlite'
import { messageOf } from '@sonde/sdk/internal'
import { CHUNK_ID_STEP } from './segments.ts'
import { DatabaseSync } from './sqlite.ts'

/** Time limit of the salvage, because new records are waiting. Unit: milliseconds. */
const SALVAGE_LIMIT_MS = 10_000
/** Tables that are copied completely, with their sort column. The head comes last: its rows are reported. */
const SMALL_TABLES = {
  meta: ['key'],
  type: ['id'],
  source: ['id'],
  writer: ['id'],
  symbol: ['writer', 'id'],
  series: ['id'],
  period: ['source', 'type', 'device', 'from_ms'],
  head: ['id'],
}

/**
 * Copies the readable content of a damaged file: each table from its start up to the damage and from its end down to
 * it, then the segments, latest first, until the time limit. Returns a sentence about the result.
 */
export function salvage(path: string, to: DatabaseSync): string {
  let from: DatabaseSync
  try {
    from = new DatabaseSync(path, { readOnly: true })
  } catch (error) {
    return `nothing of it could be read (${messageOf(error)})`
  }
  try {
    to.exec('BEGIN')
    const heads =
      Object.entries(SMALL_TABLES)
        .map(([table, key]) => copyTable(from, to, table, key))
        .at(-1) ?? 0
    const [copied, known] = copySegments(from, to)
    return `${heads} head rows and ${copied} of ${known} segments of it were carried over`
  } catch (error) {
    return `little of it could be read (${messageOf(error)})`
  } finally {
    if (to.isTransaction) to.exec('COMMIT')
    from.close()
  }
}

function copyTable(from: DatabaseSync, to: DatabaseSync, table: string, key: readonly string[]): number {
  let copied = 0
  for (const order of ['ASC', 'DESC']) {
    const sorted = key.map((column) => `${column} ${order}`).join(', ')
    const part = copyRows(from, to, table, `SELECT * FROM ${table} ORDER BY ${sorted}`)
    copied += part.copied
    if (part.complete) break
  }
  return copied
}

/** Copies rows until a row is unreadable. */
function copyRows(
  from: DatabaseSync,
  to: DatabaseSync,
  table: string,
  sql: string,
  ...values: SQLInputValue[]
): { copied: number; complete: boolean } {
  let copied = 0
  try {
    const select = from.prepare(sql)
    const columns = select.columns().length
    const insert = to.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${new Array(columns).fill('?').join(', ')})`)
    for (const row of select.iterate(...values)) {
      insert.run(...(Object.values(row) as SQLInputValue[]))
      copied++
    }
    return { copied, complete: true }
  } catch {
    // A damaged page ends this direction. The rows behind it are read from the other end, or lost.
    return { copied, complete: false }
  }
}

function copySegments(from: DatabaseSync, to: DatabaseSync): [copied: number, known: number] {
  const ids: number[] = []
  try {
    for (const row of from.prepare('SELECT id FROM segment ORDER BY level DESC, slot DESC').iterate())
      ids.push(Number(row.id))
  } catch {
    // The list ends at the first unreadable entry.
  }
  const endMs = performance.now() + SALVAGE_LIMIT_MS
  let copied = 0
  for (const id of ids) {
    if (performance.now() > endMs) break
    const range = [id * CHUNK_ID_STEP, (id + 1) * CHUNK_ID_STEP - 1]
    const chunks = copyRows(from, to, 'chunk', 'SELECT * FROM chunk WHERE id BETWEEN ? AND ?', ...range)
    if (!chunks.complete)
      copyRows(from, to, 'chunk', 'SELECT * FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id DESC', ...range)
    if (copyRows(from, to, 'segment', 'SELECT * FROM segment WHERE id = ?', id).copied > 0) copied++
  }
  return [copied, ids.length]
}
