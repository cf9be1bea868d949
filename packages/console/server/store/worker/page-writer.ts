import type { PageId, TypeDefinition } from '@sonde/sdk'
import type { Announcement, Origin, Page, PageEntry, Written } from '../protocol.ts'
import type { Catalogue, StoredType } from './catalogue.ts'
import type { ClientPages } from './client-pages.ts'
import type { Head } from './head.ts'
import { type BelievedTimes, ingest } from './ingest.ts'
import type { StoredWriter, Writers } from './writers.ts'

/** Turns pages into rows of the head. It remembers what was announced, for as long as the file stays open. */
export class PageWriter {
  readonly #catalogue: Catalogue
  readonly #writers: Writers
  readonly #head: Head
  readonly #clients: ClientPages
  readonly #types = new Map<number, StoredType>()
  readonly #live = new Map<number, StoredWriter>()
  /** Types and writers for which there was no room, and the reason under which their records are counted. */
  readonly #refused = new Map<number, string>()

  constructor(catalogue: Catalogue, writers: Writers, head: Head, clients: ClientPages) {
    this.#catalogue = catalogue
    this.#writers = writers
    this.#head = head
    this.#clients = clients
  }

  /** Writes a page inside the transaction of the caller, but for what clients sent again. */
  write(page: Page, announcement: Announcement, believed: BelievedTimes): Written {
    this.#learn(announcement)
    const fresh = page.entries.filter((entry) => entry.page === undefined || this.#clients.take(entry.page))
    const drops = new Map<string, number>()
    const lost: [PageId, number][] = []
    const drop = (reason: string, { page }: PageEntry, records: number) => {
      drops.set(reason, (drops.get(reason) ?? 0) + records)
      if (page !== undefined) lost.push([page, records])
    }
    for (const entries of groupsOf(fresh).values()) {
      const [first] = entries
      const stored = this.#types.get(first?.type ?? -1)
      const writer = this.#live.get(first?.writer ?? -1)
      if (stored === undefined || writer === undefined) {
        const { type = -1, writer = -1 } = first ?? {}
        const reason = this.#refused.get(type) ?? this.#refused.get(writer) ?? 'unannounced'
        for (const entry of entries) drop(reason, entry, entry.count)
        continue
      }
      const { rows, dropped } = ingest(page.memory, entries, {
        stored,
        writer: writer.id,
        resolver: this.#writers.resolver(writer, stored),
        lookup: (typeName, labels) => this.#catalogue.addSeries(typeName, labels, originOf(first)),
        believed,
      })
      for (const row of rows) this.#head.insert(row)
      for (const [entry, records] of dropped) drop('series_limit', entry, records)
    }
    this.#writers.pageWritten()
    const duplicates = recordsOf(page.entries) - recordsOf(fresh)
    return { dropped: [...drops], duplicates, lost, clients: this.#clients.save(Date.now()) }
  }

  /** How many of each are announced. */
  get counts(): Readonly<Record<string, number>> {
    return { liveTypes: this.#types.size, liveSources: this.#live.size, refused: this.#refused.size }
  }

  /** Ids of the types that are reported now. */
  get liveTypes(): Set<number> {
    return new Set([...this.#types.values()].map(({ id }) => id))
  }

  #learn({ types, writers, symbols, texts, gone }: Announcement): void {
    for (const { key, definition, fingerprint, origin } of types) {
      const stored = this.#typeOf(definition, fingerprint, origin)
      if (stored === undefined) this.#refused.set(key, 'type_limit')
      else this.#types.set(key, stored)
    }
    for (const { key, source, origin } of writers) {
      const stored = this.#writers.add(source, origin)
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
    for (const key of gone) {
      const writer = this.#live.get(key)
      if (writer !== undefined) this.#writers.retire(writer)
      this.#live.delete(key)
      this.#types.delete(key)
      this.#refused.delete(key)
    }
  }

  #typeOf(definition: TypeDefinition, fingerprint: string, origin: Origin): StoredType | undefined {
    const id = this.#catalogue.typeId(definition, fingerprint, origin)
    return id === undefined ? undefined : this.#catalogue.types.get(id)
  }
}

function originOf(entry: PageEntry | undefined): Origin {
  return entry?.page === undefined ? 'own' : 'client'
}

/** Entries that may share rows: of one type, writer and clock. */
function groupsOf(entries: readonly PageEntry[]): Map<string, PageEntry[]> {
  const groups = new Map<string, PageEntry[]>()
  for (const entry of entries) {
    const key = `${entry.type} ${entry.writer} ${entry.clock}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}

function recordsOf(entries: readonly PageEntry[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0)
}
