import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { readRecords, viewsOf } from '@sonde/sdk'
import { type PeriodsByType, periodType, reportMsOf } from '@sonde/sdk/internal'
import type { NewHeadRow } from './head-rows.ts'
import type { StoreCatalogue } from './store-catalogue.ts'
import type { Writers } from './writers.ts'

/** A stretch of time. Unit: milliseconds since the Unix epoch. */
export interface PeriodSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** A period, with the time of its first report. */
interface Change {
  readonly fromMs: number
  readonly reportMs: number
}

/** Changes of one type and device that are kept; beyond, the first are forgotten. */
const CHANGE_COUNT_LIMIT = 32
/**
 * Types and devices of one source. There is a limit because each question scans all of them, and a client may name any.
 */
const SOURCE_COUNT_LIMIT = 1024
/** Rows of all sources. A source beyond the limit has no period, and its gaps are derived from the times. */
const ROW_COUNT_LIMIT = 65_536

/** The periods of sources over time: few rows, so they are kept in memory too. */
export class StoredPeriods {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync
  readonly #catalogue: StoreCatalogue
  readonly #writers: Writers
  /** By source, type and device. */
  readonly #sources = new Map<number, Map<string, Map<string, Change[]>>>()
  #rows = 0

  constructor(database: DatabaseSync, catalogue: StoreCatalogue, writers: Writers) {
    this.#database = database
    this.#catalogue = catalogue
    this.#writers = writers
    this.#insert = database.prepare('INSERT OR REPLACE INTO period VALUES (?, ?, ?, ?, ?)')
    this.#delete = database.prepare('DELETE FROM period WHERE source = ? AND type = ? AND device = ? AND from_ms = ?')
    for (const { source, type, device, from_ms, report_ms } of database
      .prepare('SELECT * FROM period ORDER BY from_ms')
      .all()) {
      const change = { fromMs: Number(from_ms), reportMs: Number(report_ms) }
      this.#changes(Number(source), String(type), String(device)).push(change)
      this.#rows++
    }
  }

  /** Number of rows. */
  get count(): number {
    return this.#rows
  }

  /** Learns from a row of the head, in the transaction of the caller; rows of other types are ignored. */
  take({ type, writer, firstMs, count, pieces }: NewHeadRow): void {
    if (this.#catalogue.types.get(type)?.type.fingerprint !== periodType.fingerprint) return
    const found = this.#writers.of(writer)
    if (found === undefined) return
    for (const said of readRecords(periodType, viewsOf(Buffer.concat(pieces)), count, found.symbols)) {
      const reportMs = reportMsOf(said)
      if (reportMs !== undefined) this.#note(found.source, said.type, said.device, { fromMs: firstMs, reportMs })
    }
  }

  /** The periods in a window: for each type and device the longest. */
  within(source: number, { fromMs, toMs }: PeriodSpan): PeriodsByType | undefined {
    const types = this.#sources.get(source)
    if (types === undefined) return undefined
    const longest = (changes: readonly Change[]) => {
      // The first known period also holds before its report, because a source reports it with its first records.
      const held = changes.filter((change, i) => change.fromMs <= toMs && (changes[i + 1]?.fromMs ?? toMs) >= fromMs)
      return Math.max(0, ...(held.length > 0 ? held : changes.slice(0, 1)).map(({ reportMs }) => reportMs))
    }
    return new Map(
      Array.from(types, ([type, devices]) => [
        type,
        new Map(Array.from(devices, ([device, changes]) => [device, longest(changes)])),
      ]),
    )
  }

  /** Forgets the sources that were deleted. */
  deleteUnused(): void {
    this.#database.exec('DELETE FROM period WHERE source NOT IN (SELECT id FROM source)')
    for (const [source, types] of this.#sources) {
      if (this.#catalogue.source(source) !== undefined) continue
      for (const devices of types.values()) for (const changes of devices.values()) this.#rows -= changes.length
      this.#sources.delete(source)
    }
  }

  #note(source: number, type: string, device: string, change: Change): void {
    const types = this.#sources.get(source)
    if (types?.get(type)?.has(device) !== true && countOf(types) >= SOURCE_COUNT_LIMIT) return
    const changes = this.#changes(source, type, device)
    if (changes.at(-1)?.reportMs === change.reportMs || this.#rows >= ROW_COUNT_LIMIT) return
    changes.push(change)
    this.#insert.run(source, type, device, change.fromMs, change.reportMs)
    this.#rows++
    if (changes.length <= CHANGE_COUNT_LIMIT) return
    this.#delete.run(source, type, device, changes.shift()?.fromMs ?? 0)
    this.#rows--
  }

  #changes(source: number, type: string, device: string): Change[] {
    const types = getOrAdd(this.#sources, source, () => new Map<string, Map<string, Change[]>>())
    return getOrAdd(
      getOrAdd(types, type, () => new Map<string, Change[]>()),
      device,
      () => [],
    )
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let found = map.get(key)
  if (found === undefined) {
    found = make()
    map.set(key, found)
  }
  return found
}

function countOf(types: ReadonlyMap<string, ReadonlyMap<string, unknown>> | undefined): number {
  return types?.values().reduce((sum, devices) => sum + devices.size, 0) ?? 0
}
