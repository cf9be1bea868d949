import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '@sonde/sdk/internal'

/** Packed records of one type, writer and hour, as they arrived. */
export interface HeadRow {
  readonly type: number
  readonly writer: number
  readonly clock: Clock
  readonly hour: number
  readonly firstMs: number
  readonly lastMs: number
  readonly count: number
  readonly body: Uint8Array
}

/** A row before it is stored: its records lie in pieces, in this order. */
export interface NewHeadRow extends Omit<HeadRow, 'body'> {
  readonly pieces: readonly Uint8Array[]
}

/** Length of a record above which a scan counts it as several. Unit: bytes. */
const CANDIDATE_BYTES = 256
const COLUMNS = 'type, writer, clock, hour, first_ms, last_ms, count'
const PLACE = 'bytes, crc, file, place'

/** Queries on the rows of the head. */
export function headStatements(database: DatabaseSync) {
  // Times of another clock are in no window.
  const inWindow = "type = ? AND last_ms > ? AND first_ms <= ? AND clock = 'wall'"
  const prepare = (sql: string) => database.prepare(sql)
  return {
    insert: prepare(`INSERT INTO head (${COLUMNS}, ${PLACE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    delete: prepare('DELETE FROM head WHERE id = ? RETURNING file, bytes'),
    deleteFile: prepare('DELETE FROM head WHERE file = ? RETURNING id, bytes'),
    beyond: prepare('SELECT sum(count) AS count FROM head WHERE file = ? AND place + bytes > ?'),
    deleteBeyond: prepare('DELETE FROM head WHERE file = ? AND place + bytes > ? RETURNING count, bytes'),
    files: prepare('SELECT file, max(place + bytes) AS end, sum(bytes) AS needed FROM head GROUP BY file'),
    ofFile: prepare('SELECT id, bytes FROM head WHERE file = ? ORDER BY id'),
    move: prepare('UPDATE head SET file = ?, place = ? WHERE id = ?'),
    checkpoint: prepare('PRAGMA wal_checkpoint(PASSIVE)'),
    bytes: prepare('SELECT sum(bytes) AS bytes FROM head'),
    row: prepare(`SELECT ${COLUMNS}, ${PLACE} FROM head WHERE id = ?`),
    inRange: prepare(`SELECT id FROM head WHERE ${inWindow} ORDER BY id`),
    candidatesIn: prepare(`SELECT sum(max(count, bytes / ${CANDIDATE_BYTES})) AS count FROM head WHERE ${inWindow}`),
    writersIn: prepare(`SELECT DISTINCT writer FROM head WHERE ${inWindow} ORDER BY hour`),
    rangesIn: prepare(`SELECT min(first_ms) AS first, max(last_ms) AS last FROM head WHERE ${inWindow} GROUP BY hour`),
    oldestOf: prepare('SELECT min(hour) AS hour FROM head WHERE type = ?'),
    units: prepare(
      'SELECT type, writer, clock, hour, sum(bytes) AS bytes FROM head GROUP BY type, hour, writer, clock ORDER BY hour, type',
    ),
    idsOfUnit: prepare('SELECT id FROM head WHERE type = ? AND writer = ? AND clock = ? AND hour = ? ORDER BY id'),
    ofUnitOfSource: prepare(
      `SELECT id, count, first_ms, last_ms FROM head
       WHERE type = ? AND hour = ? AND clock = ? AND writer IN (SELECT id FROM writer WHERE source = ?) ORDER BY id`,
    ),
    oldest: prepare('SELECT min(hour) AS hour FROM head'),
    firstOf: prepare('SELECT min(first_ms) AS first FROM head WHERE hour = ? AND first_ms > ? AND first_ms <= ?'),
  }
}

/** A row of the table, with its bytes. */
export function headRowOf(row: Record<string, unknown>, body: Uint8Array): HeadRow {
  return {
    type: Number(row.type),
    writer: Number(row.writer),
    clock: row.clock as Clock,
    hour: Number(row.hour),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    count: Number(row.count),
    body,
  }
}
