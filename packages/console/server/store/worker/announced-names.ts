import type { Announcement, PageEntry } from '../protocol.ts'
import type { StoreCatalogue, StoredType } from './store-catalogue.ts'
import type { StoredWriter, Writers } from './writers.ts'

type AnnouncedType = Announcement['types'][number]

/**
 * The names that the main thread announced: types and sources by the keys in pages, as long as the file stays open.
 */
export class AnnouncedNames {
  readonly #catalogue: StoreCatalogue
  readonly #writers: Writers
  readonly #types = new Map<number, StoredType>()
  readonly #live = new Map<number, StoredWriter>()
  /**
   * Types without a stored record yet. If one client is over its limit for a type, the next client may still store it.
   */
  readonly #newTypes = new Map<number, AnnouncedType>()
  /** Writers that were refused because of a limit. Each belongs to one client. */
  readonly #refused = new Set<number>()

  constructor(catalogue: StoreCatalogue, writers: Writers) {
    this.#catalogue = catalogue
    this.#writers = writers
  }

  /** Number of announced names of each kind. */
  get counts(): Readonly<Record<string, number>> {
    return {
      liveTypes: this.#types.size,
      liveSources: this.#live.size,
      newTypes: this.#newTypes.size,
      refused: this.#refused.size,
    }
  }

  /** Ids of the types that are reported now. */
  get liveTypes(): Set<number> {
    return new Set([...this.#types.values()].map(({ id }) => id))
  }

  /** Type and source of an entry, or the reason to drop its records. */
  of({ type, writer, page }: PageEntry): { stored: StoredType; writer: StoredWriter } | string {
    const live = this.#live.get(writer)
    if (live === undefined) return this.#refused.has(writer) ? 'source_limit' : 'unannounced'
    const stored = this.#types.get(type) ?? this.#store(type, page?.client)
    if (stored !== undefined) return { stored, writer: live }
    return this.#newTypes.has(type) ? 'type_limit' : 'unannounced'
  }

  /** Stores the new writers, inside the transaction of the caller. Types are stored with their first record. */
  learn({ types, writers, symbols, gone }: Announcement): void {
    for (const type of types) this.#newTypes.set(type.key, type)
    for (const { key, source, client } of writers) {
      const stored = this.#writers.add(source, client)
      if (stored === undefined) this.#refused.add(key)
      else this.#live.set(key, stored)
    }
    for (const item of symbols) {
      const stored = this.#live.get(item.source)
      if (stored !== undefined) this.#writers.addSymbols(stored, item)
    }
    for (const key of gone) this.#forget(key)
  }

  /** Stores a new type at its first record. `client` is undefined for this process. */
  #store(key: number, client: bigint | undefined): StoredType | undefined {
    const type = this.#newTypes.get(key)
    const id = type === undefined ? undefined : this.#catalogue.typeId(type.definition, type.fingerprint, client)
    const stored = id === undefined ? undefined : this.#catalogue.types.get(id)
    if (stored === undefined) return undefined
    this.#newTypes.delete(key)
    this.#types.set(key, stored)
    return stored
  }

  #forget(key: number): void {
    const writer = this.#live.get(key)
    if (writer !== undefined) this.#writers.retire(writer)
    this.#live.delete(key)
    this.#types.delete(key)
    this.#newTypes.delete(key)
    this.#refused.delete(key)
  }
}
