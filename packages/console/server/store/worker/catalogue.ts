import type { DatabaseSync } from 'node:sqlite'
import { defineType, type Labels, type RecordType, SondeError, type Symbols, seriesKey, type TypeDefinition } from '@sonde/sdk'
import type { SourceDescriptor } from '../protocol.ts'

/** A type as it is known to the file. */
export interface StoredType {
  readonly id: number
  readonly definition: TypeDefinition
  readonly type: RecordType
}

/** A series of a type: the same for all versions of the type. */
export interface StoredSeries {
  readonly id: number
  readonly key: string
  readonly labels: Labels
}

/** The symbol table of a writer of earlier. */
export interface StoredSymbols extends Symbols {
  readonly texts: readonly string[]
}

/**
 * Types in every version, sources, writers with their symbols, and series: what the rest of the file is read with. Small, so it is kept in memory; made anew
 * after a transaction failed, because it may then know what the file does not.
 */
export class Catalogue {
  readonly types = new Map<number, StoredType>()
  /** Rows that could not be read. */
  damaged = 0
  readonly #database: DatabaseSync
  readonly #typeIds = new Map<string, number>()
  readonly #sources = new Map<number, SourceDescriptor>()
  readonly #sourceIds = new Map<string, number>()
  readonly #series = new Map<string, Map<string, StoredSeries>>()
  readonly #seriesById = new Map<number, StoredSeries>()
  readonly #seriesLimit: number

  constructor(database: DatabaseSync, seriesLimit: number) {
    this.#database = database
    this.#seriesLimit = seriesLimit
    const each = (sql: string, keep: (row: Record<string, unknown>) => void) => {
      for (const row of database.prepare(sql).all()) {
        // A damaged row is as if it were not there; what refers to it is skipped.
        try {
          keep(row)
        } catch {
          this.damaged++
        }
      }
    }
    each('SELECT id, fingerprint, definition FROM type', ({ id, fingerprint, definition }) => {
      this.#keepType(Number(id), JSON.parse(String(definition)) as TypeDefinition, String(fingerprint))
    })
    each('SELECT id, descriptor FROM source', ({ id, descriptor }) => {
      this.#keepSource(Number(id), String(descriptor))
    })
    each('SELECT id, type_name, labels FROM series', ({ id, type_name, labels }) => {
      this.#keepSeries(Number(id), String(type_name), JSON.parse(String(labels)) as Labels)
    })
  }

  /** Series known. */
  get seriesCount(): number {
    return this.#seriesById.size
  }

  /** Id of a type, which is stored at first sight. */
  typeId(definition: TypeDefinition, fingerprint: string): number {
    const known = this.#typeIds.get(fingerprint)
    if (known !== undefined) return known
    // The conflict is a row that could not be read: it is mended.
    const insert = this.#database.prepare(
      `INSERT INTO type (fingerprint, definition) VALUES (?, ?)
       ON CONFLICT (fingerprint) DO UPDATE SET definition = excluded.definition RETURNING id`,
    )
    const id = Number(insert.get(fingerprint, JSON.stringify(definition))?.id)
    this.#keepType(id, definition, fingerprint)
    return id
  }

  /** A source by its id. */
  source(id: number): SourceDescriptor | undefined {
    return this.#sources.get(id)
  }

  /** Stores a new writer; gives its id and that of its source. */
  addWriter(source: SourceDescriptor): { writer: number; source: number } {
    const descriptor = JSON.stringify(source)
    let sourceId = this.#sourceIds.get(descriptor)
    if (sourceId === undefined) {
      const insert = this.#database.prepare('INSERT INTO source (descriptor) VALUES (?)')
      sourceId = Number(insert.run(descriptor).lastInsertRowid)
      this.#keepSource(sourceId, descriptor)
    }
    const row = this.#database.prepare('INSERT INTO writer (source) VALUES (?)').run(sourceId)
    return { writer: Number(row.lastInsertRowid), source: sourceId }
  }

  /** Stores texts that a writer's table gained. */
  addSymbols(writer: number, from: number, texts: readonly string[]): void {
    const insert = this.#database.prepare('INSERT OR REPLACE INTO symbol VALUES (?, ?, ?)')
    for (const [index, text] of texts.entries()) insert.run(writer, from + index, text)
  }

  /** The source of a writer, and its symbols. */
  writer(id: number): { source: number; symbols: StoredSymbols } | undefined {
    const row = this.#database.prepare('SELECT source FROM writer WHERE id = ?').get(id)
    if (row === undefined) return undefined
    const texts: string[] = []
    for (const symbol of this.#database.prepare('SELECT id, text FROM symbol WHERE writer = ?').iterate(id)) {
      texts[Number(symbol.id)] = String(symbol.text)
    }
    return { source: Number(row.source), symbols: symbolsOf(texts) }
  }

  /** Id of a series, which is stored at first sight; undefined where there are too many already. */
  seriesId(typeName: string, labels: Labels): number | undefined {
    const known = this.#series.get(typeName)?.get(seriesKey(labels))
    if (known !== undefined) return known.id
    if (this.#seriesById.size >= this.#seriesLimit) return undefined
    const insert = this.#database.prepare('INSERT INTO series (type_name, labels) VALUES (?, ?)')
    const id = Number(insert.run(typeName, JSON.stringify(labels)).lastInsertRowid)
    this.#keepSeries(id, typeName, labels)
    return id
  }

  /** A series by its id. */
  seriesById(id: number): StoredSeries | undefined {
    return this.#seriesById.get(id)
  }

  /** Every series of a type. */
  seriesOf(typeName: string): Iterable<StoredSeries> {
    return this.#series.get(typeName)?.values() ?? []
  }

  /** Ids of all series. */
  seriesIds(): number[] {
    return [...this.#seriesById.keys()]
  }

  #keepType(id: number, definition: TypeDefinition, fingerprint: string): void {
    const fields = Object.fromEntries(definition.fields.map(({ name, ...field }) => [name, field]))
    const type = defineType(definition.name, definition.description, fields, { layout: definition.layout })
    if (type.fingerprint !== fingerprint) throw new SondeError('STO_TYPE', `type ${type.name} is not what it was stored as`)
    this.types.set(id, { id, definition, type })
    this.#typeIds.set(fingerprint, id)
  }

  #keepSource(id: number, descriptor: string): void {
    this.#sources.set(id, JSON.parse(descriptor) as SourceDescriptor)
    this.#sourceIds.set(descriptor, id)
  }

  #keepSeries(id: number, typeName: string, labels: Labels): void {
    const series: StoredSeries = { id, key: seriesKey(labels), labels }
    let ofType = this.#series.get(typeName)
    if (ofType === undefined) this.#series.set(typeName, (ofType = new Map()))
    ofType.set(series.key, series)
    this.#seriesById.set(id, series)
  }
}

/** Symbols over a list of texts. */
export function symbolsOf(texts: readonly string[]): StoredSymbols {
  return { texts, count: texts.length, text: (id) => texts[id] ?? `?${id}` }
}
