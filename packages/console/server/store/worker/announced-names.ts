import type { Announcement, PageEntry } from '../protocol.ts'
import type { Catalogue, StoredType } from './catalogue.ts'
import type { StoredWriter, Writers } from './writers.ts'

/**
 * What the main thread announced: types and sources by the keys that pages refer to, for as long as the file stays
 * open.
 */
export class AnnouncedNames {
  readonly #catalogue: Catalogue
  readonly #writers: Writers
  readonly #types = new Map<number, StoredType>()
  readonly #live = new Map<number, StoredWriter>()
  /** Types and writers for which there was no room, and the reason under which their records are counted. */
  readonly #refused = new Map<number, string>()

  constructor(catalogue: Catalogue, writers: Writers) {
    this.#catalogue = catalogue
    this.#writers = writers
  }

  /** How many of each are announced. */
  get counts(): Readonly<Record<string, number>> {
    return { liveTypes: this.#types.size, liveSources: this.#live.size, refused: this.#refused.size }
  }

  /** Ids of the types that are reported now. */
  get liveTypes(): Set<number> {
    return new Set([...this.#types.values()].map(({ id }) => id))
  }

  /** Type and source of an entry, or the reason for which its records are dropped. */
  of({ type, writer }: PageEntry): { stored: StoredType; writer: StoredWriter } | string {
    const stored = this.#types.get(type)
    const live = this.#live.get(writer)
    if (stored !== undefined && live !== undefined) return { stored, writer: live }
    return this.#refused.get(type) ?? this.#refused.get(writer) ?? 'unannounced'
  }

  /** Stores what is new, inside the transaction of the caller. */
  learn({ types, writers, symbols, texts, gone }: Announcement): void {
    for (const { key, definition, fingerprint, client } of types) {
      const id = this.#catalogue.typeId(definition, fingerprint, client)
      const stored = id === undefined ? undefined : this.#catalogue.types.get(id)
      if (stored === undefined) this.#refused.set(key, 'type_limit')
      else this.#types.set(key, stored)
    }
    for (const { key, source, client } of writers) {
      const stored = this.#writers.add(source, client)
      if (stored === undefined) this.#refused.set(key, 'source_limit')
      else this.#live.set(key, stored)
    }
    for (const { writer, from, texts } of symbols) {
      const stored = this.#live.get(writer)
      if (stored !== undefined) this.#writers.addSymbols(stored, from, texts)
    }
    for (const entry of texts) {
      const stored = this.#live.get(entry.writer)
      if (stored !== undefined) this.#writers.addTexts(stored, entry)
    }
    for (const key of gone) this.#forget(key)
  }

  #forget(key: number): void {
    const writer = this.#live.get(key)
    if (writer !== undefined) this.#writers.retire(writer)
    this.#live.delete(key)
    this.#types.delete(key)
    this.#refused.delete(key)
  }
}
