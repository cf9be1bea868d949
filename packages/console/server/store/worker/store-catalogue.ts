import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Labels, type RecordType, SondeError } from '@sonde/sdk'
import { keyOfText, type QuotaHolder, seriesKey, type TypeDefinition, typeOfDefinition } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import type { SourceDescriptor } from '../protocol.ts'
import { EARLIER, PLACE_FILE_BYTES, Places } from './places.ts'

/** A type in the file. */
export interface StoredType {
  readonly id: number
  readonly definition: TypeDefinition
  readonly type: RecordType
}

/** A series of a type: the same for all versions of the type. */
export interface StoredSeries {
  readonly id: number
  readonly labels: Labels
  /** The last hour in which a record of it arrived since the file was opened; 0 if none did. */
  seenHour: number
}

/** Limits of types and of sources in the file; lower if their texts are long. */
const TYPE_COUNT_LIMIT = 4096
const SOURCE_COUNT_LIMIT = 65_536
/** The longest definition that counts as one type. Unit: bytes. */
const TYPE_TEXT_BYTES = 16 << 10
/** Series take at most this part of the file, so that they push no records out. */
const SERIES_PART = 1 / 4

/**
 * Types in every version, sources and series: all other tables refer to them. They are small, so they are kept in
 * memory. They are read again after a failed transaction, because memory may then hold names that the file does not.
 */
export class StoreCatalogue {
  readonly types = new Map<number, StoredType>()
  /** Ids of the types that this process reported since the file was opened. */
  readonly ownTypeIds = new Set<number>()
  /** Number of unreadable rows. */
  damaged = 0
  readonly #database: DatabaseSync
  readonly #typeIds = new Map<string, number>()
  readonly #sources = new Map<number, SourceDescriptor>()
  readonly #sourceIds = new Map<string, number>()
  readonly #series = new Map<string, Map<string, StoredSeries>>()
  readonly #seriesById = new Map<number, StoredSeries>()
  readonly #typePlaces = new Places(TYPE_COUNT_LIMIT, TYPE_TEXT_BYTES)
  readonly #sourcePlaces = new Places(SOURCE_COUNT_LIMIT)
  readonly #seriesPlaces: Places
  readonly #insertSeries: StatementSync

  constructor(database: DatabaseSync, { seriesLimit, maxBytes }: Pick<StoreSettings, 'seriesLimit' | 'maxBytes'>) {
    this.#database = database
    this.#seriesPlaces = new Places(Math.min(seriesLimit, Math.floor((maxBytes * SERIES_PART) / PLACE_FILE_BYTES)))
    // A row that returns its id with RETURNING takes five times as long.
    this.#insertSeries = database.prepare('INSERT OR REPLACE INTO series (type_name, labels) VALUES (?, ?)')
    this.#each('SELECT id, fingerprint, definition FROM type', ({ id, fingerprint, definition }) => {
      this.#keepType(Number(id), JSON.parse(String(definition)) as TypeDefinition, String(fingerprint), EARLIER)
    })
    this.#each('SELECT id, descriptor FROM source', ({ id, descriptor }) => {
      this.#keepSource(Number(id), String(descriptor), EARLIER)
    })
    this.#each('SELECT id, type_name, labels FROM series', ({ id, type_name, labels }) => {
      this.#keepSeries(Number(id), String(type_name), JSON.parse(String(labels)) as Labels, EARLIER)
    })
  }

  /** Number of names of each kind. */
  get counts(): Readonly<Record<string, number>> {
    return {
      types: this.types.size,
      sources: this.#sources.size,
      series: this.#seriesById.size,
      seriesTypes: this.#series.size,
    }
  }

  /** Approximate size of all names in the file. Unit: bytes. */
  get fileBytes(): number {
    return [this.#typePlaces, this.#sourcePlaces, this.#seriesPlaces].reduce((sum, { fileBytes }) => sum + fileBytes, 0)
  }

  /**
   * Id of a type, by its definition as JSON. A new type is stored; undefined if there are too many.
   */
  typeId(definition: string, fingerprint: string, holder: QuotaHolder): number | undefined {
    const known = this.#typeIds.get(fingerprint)
    if (known !== undefined) {
      const stored = this.types.get(known)
      this.#typePlaces.claim(known, holder, () => JSON.stringify(stored?.definition))
      if (holder === undefined) {
        this.ownTypeIds.add(known)
        this.#renew(known, definition, fingerprint)
      }
      return known
    }
    if (!this.#typePlaces.hasRoom(holder, definition)) return undefined
    // A conflict means that the row was unreadable: it is replaced.
    const insert = this.#database.prepare(
      `INSERT INTO type (fingerprint, definition) VALUES (?, ?)
       ON CONFLICT (fingerprint) DO UPDATE SET definition = excluded.definition RETURNING id`,
    )
    const id = Number(insert.get(fingerprint, definition)?.id)
    this.#keepType(id, JSON.parse(definition) as TypeDefinition, fingerprint, holder)
    if (holder === undefined) this.ownTypeIds.add(id)
    return id
  }

  /**
   * Details of a type besides its fingerprint, such as its entity, which this process declares and which replace the
   * earlier ones.
   */
  #renew(id: number, definition: string, fingerprint: string): void {
    const before = JSON.stringify(this.types.get(id)?.definition)
    if (before === definition) return
    this.#database.prepare('UPDATE type SET definition = ? WHERE id = ?').run(definition, id)
    this.#typePlaces.leave(id, before)
    this.#keepType(id, JSON.parse(definition) as TypeDefinition, fingerprint, undefined)
  }

  /** A source by its id. */
  source(id: number): SourceDescriptor | undefined {
    return this.#sources.get(id)
  }

  /** Id of a source. A new source is stored; undefined if there are too many. */
  sourceId(source: SourceDescriptor, holder: QuotaHolder): number | undefined {
    const descriptor = JSON.stringify(source)
    const known = this.#sourceIds.get(descriptor)
    if (known !== undefined) {
      this.#sourcePlaces.claim(known, holder, () => descriptor)
      return known
    }
    if (!this.#sourcePlaces.hasRoom(holder, descriptor)) return undefined
    const insert = this.#database.prepare(
      `INSERT INTO source (descriptor) VALUES (?)
       ON CONFLICT (descriptor) DO UPDATE SET descriptor = excluded.descriptor RETURNING id`,
    )
    const id = Number(insert.get(descriptor)?.id)
    this.#keepSource(id, descriptor, holder)
    return id
  }

  /** A series, if it is known. */
  readonly findSeries = (typeName: string, labels: Labels): StoredSeries | undefined =>
    this.#series.get(typeName)?.get(keyOfText(seriesKey(labels)))

  /** A series. A new series is stored; undefined if there are too many. */
  addSeries(typeName: string, labels: Labels, holder: QuotaHolder): StoredSeries | undefined {
    const known = this.findSeries(typeName, labels)
    if (known !== undefined) {
      this.#seriesPlaces.claim(known.id, holder, () => JSON.stringify(known.labels))
      return known
    }
    if (!this.#seriesPlaces.hasRoom(holder, JSON.stringify(labels))) return undefined
    return this.#insert(typeName, labels, holder)
  }

  /** The series of a record that is already in the file. */
  seriesOfStored(typeName: string, labels: Labels): StoredSeries {
    return this.findSeries(typeName, labels) ?? this.#insert(typeName, labels, EARLIER)
  }

  /** A series by its id. It may be newer than the memory if another process writes the file. */
  seriesById(id: number): StoredSeries | undefined {
    const known = this.#seriesById.get(id)
    if (known !== undefined) return known
    const row = this.#database.prepare('SELECT type_name, labels FROM series WHERE id = ?').get(id)
    if (row === undefined) return undefined
    try {
      return this.#keepSeries(id, String(row.type_name), JSON.parse(String(row.labels)) as Labels, EARLIER)
    } catch {
      this.damaged++
      return undefined
    }
  }

  /** Every series of a type. */
  seriesOf(typeName: string): Iterable<StoredSeries> {
    return this.#series.get(typeName)?.values() ?? []
  }

  /** Number of series of a type. */
  countOf(typeName: string): number {
    return this.#series.get(typeName)?.size ?? 0
  }

  /** Deletes every series without a record since an hour, unless `isUsed` says that it is used. */
  deleteSeries(beforeHour: number, isUsed: (id: number) => boolean): void {
    const remove = this.#database.prepare('DELETE FROM series WHERE id = ?')
    for (const [typeName, ofType] of this.#series) {
      for (const [key, { id, labels, seenHour }] of ofType) {
        if (seenHour >= beforeHour || isUsed(id)) continue
        remove.run(id)
        ofType.delete(key)
        this.#seriesById.delete(id)
        this.#seriesPlaces.leave(id, JSON.stringify(labels))
      }
      if (ofType.size === 0) this.#series.delete(typeName)
    }
  }

  /** Deletes the types and sources without data. `liveTypes` are the types that are reported now. */
  deleteUnused(liveTypes: ReadonlySet<number>): void {
    const used = (column: string, table: string) => `SELECT DISTINCT ${column} FROM ${table}`
    const unused = (table: string, users: readonly string[]) =>
      this.#database.prepare(`SELECT id FROM ${table} WHERE id NOT IN (${users.join(' UNION ')})`).all()
    const deleteType = this.#database.prepare('DELETE FROM type WHERE id = ?')
    for (const id of unused('type', [used('type', 'head'), used('type', 'segment')]).map((row) => Number(row.id))) {
      if (liveTypes.has(id)) continue
      deleteType.run(id)
      const unusedType = this.types.get(id)
      if (unusedType === undefined) continue
      this.#typeIds.delete(unusedType.type.fingerprint)
      this.types.delete(id)
      this.ownTypeIds.delete(id)
      this.#typePlaces.leave(id, JSON.stringify(unusedType.definition))
    }
    const deleteSource = this.#database.prepare('DELETE FROM source WHERE id = ?')
    for (const id of unused('source', [used('source', 'writer'), used('source', 'segment')]).map((row) =>
      Number(row.id),
    )) {
      deleteSource.run(id)
      const descriptor = JSON.stringify(this.#sources.get(id))
      this.#sourceIds.delete(descriptor)
      this.#sources.delete(id)
      this.#sourcePlaces.leave(id, descriptor)
    }
  }

  /** A damaged row counts as missing: rows that refer to it are skipped. */
  #each(sql: string, keep: (row: Record<string, unknown>) => void): void {
    for (const row of this.#database.prepare(sql).all()) {
      try {
        keep(row)
      } catch {
        this.damaged++
      }
    }
  }

  #keepType(id: number, definition: TypeDefinition, fingerprint: string, holder: QuotaHolder): void {
    const type = typeOfDefinition(definition)
    if (type.fingerprint !== fingerprint) {
      throw new SondeError('STO_TYPE', `type ${type.name} is not what it was stored as`)
    }
    this.types.set(id, { id, definition, type })
    this.#typeIds.set(fingerprint, id)
    this.#typePlaces.take(id, holder, JSON.stringify(definition))
  }

  #keepSource(id: number, descriptor: string, holder: QuotaHolder): void {
    this.#sources.set(id, JSON.parse(descriptor) as SourceDescriptor)
    this.#sourceIds.set(descriptor, id)
    this.#sourcePlaces.take(id, holder, descriptor)
  }

  #insert(typeName: string, labels: Labels, holder: QuotaHolder): StoredSeries {
    const { lastInsertRowid } = this.#insertSeries.run(typeName, JSON.stringify(labels))
    return this.#keepSeries(Number(lastInsertRowid), typeName, labels, holder)
  }

  #keepSeries(id: number, typeName: string, labels: Labels, holder: QuotaHolder): StoredSeries {
    const series: StoredSeries = { id, labels, seenHour: 0 }
    let ofType = this.#series.get(typeName)
    if (ofType === undefined) {
      ofType = new Map()
      this.#series.set(typeName, ofType)
    }
    ofType.set(keyOfText(seriesKey(labels)), series)
    this.#seriesById.set(id, series)
    this.#seriesPlaces.take(id, holder, JSON.stringify(labels))
    return series
  }
}
