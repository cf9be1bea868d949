import type { Labels } from '@sonde/sdk'
import type { PageId } from '@sonde/sdk/internal'
import type { Announcement, PageEntry, StorePage, Written } from '../protocol.ts'
import { AnnouncedNames } from './announced-names.ts'
import type { ClientPages } from './client-pages.ts'
import type { Head } from './head.ts'
import { type BelievedTimes, type Ingested, ingest } from './ingest.ts'
import { textPlaces } from './places.ts'
import { REFUSED, type SeriesLookup, type SeriesResolver } from './series-resolver.ts'
import type { StoreCatalogue, StoredSeries } from './store-catalogue.ts'
import type { StoredPeriods } from './stored-periods.ts'
import { textIdsIn } from './text-ids.ts'
import type { Writers } from './writers.ts'

/**
 * Lookups of series in a page, for one client and for all clients together. A series with long labels counts once for
 * each place that it takes. A new series takes some 7 µs.
 */
const CLIENT_LOOKUP_COUNT = 2048
const PAGE_LOOKUP_COUNT = 4096
/** Lookups that every client has, whatever the others do. */
const LEAST_LOOKUP_COUNT = 64

type Client = bigint | undefined

/** A client has used up its lookups in this page. */
class TurnOver extends Error {}

/** The result of the entries of one type, source and clock. */
interface ReadGroup extends Ingested {
  /** The reason why records were dropped. */
  readonly reason: string
  readonly resolver?: SeriesResolver
}

/** The tables that it writes. */
export interface PageTables {
  readonly catalogue: StoreCatalogue
  readonly writers: Writers
  readonly head: Head
  readonly clients: ClientPages
  readonly periods: StoredPeriods
}

/**
 * Turns pages into rows of the head. A client with more new series than it may look up in one page is behind: the
 * series that it looked up stay, none of its records of this page is written, and they are sent again while the pages
 * of other clients pass.
 */
export class PageWriter {
  readonly names: AnnouncedNames
  readonly #catalogue: StoreCatalogue
  readonly #writers: Writers
  readonly #head: Head
  readonly #clients: ClientPages
  readonly #periods: StoredPeriods
  /**
   * Clients that are behind, with the page since which they are. Records sent before that was acknowledged would be out
   * of order.
   */
  readonly #behind = new Map<Client, number>()

  constructor({ catalogue, writers, head, clients, periods }: PageTables) {
    this.names = new AnnouncedNames(catalogue, writers)
    this.#catalogue = catalogue
    this.#writers = writers
    this.#head = head
    this.#clients = clients
    this.#periods = periods
  }

  /**
   * Writes a page inside the transaction of the caller, except records that clients sent again, and records of clients
   * that are behind.
   */
  write(page: StorePage, announcement: Announcement, believed: BelievedTimes): Written {
    this.names.learn(announcement)
    for (const [client, sequence] of this.#behind) if (page.afterAcked >= sequence) this.#behind.delete(client)
    const outcome = new Outcome()
    let lookupCount = 0
    for (const [client, entries] of groupsOf(page.entries, ({ page }) => page?.client)) {
      const fresh = this.#fresh(client, entries)
      const lookups = new Lookups(this.#catalogue, client, limitOf(client, lookupCount))
      const groups = this.#behind.has(client) ? undefined : this.#read(page.memory, fresh, lookups, believed)
      lookupCount += lookups.count
      if (groups === undefined) {
        this.#behind.set(client, page.sequence)
        outcome.behind(client)
        continue
      }
      for (const group of groups) {
        for (const row of group.rows) {
          this.#head.insert(row)
          this.#periods.take(row)
        }
        group.resolver?.forgetRefused()
        outcome.dropped(group)
      }
      const last = fresh.at(-1)?.page
      if (last !== undefined) this.#clients.wrote(last)
      outcome.duplicates += recordsOf(entries) - recordsOf(fresh)
    }
    this.#writers.pageWritten()
    return outcome.written(this.#clients)
  }

  /** Entries that are not in the file yet. */
  #fresh(client: Client, entries: readonly PageEntry[]): readonly PageEntry[] {
    if (client === undefined) return entries
    let last = this.#clients.last(client)
    return entries.filter(({ page }) => {
      const isFresh = page !== undefined && page.sequence > last
      if (isFresh) last = page.sequence
      return isFresh
    })
  }

  /** The rows from the entries of one client; undefined if they need more lookups than it has. */
  #read(
    memory: SharedArrayBuffer,
    entries: readonly PageEntry[],
    lookups: Lookups,
    believed: BelievedTimes,
  ): ReadGroup[] | undefined {
    try {
      const groups = groupsOf(entries, ({ type, writer, clock }) => `${type} ${writer} ${clock}`)
      return [...groups.values()].map((group) => this.#readGroup(memory, group, lookups, believed))
    } catch (error) {
      if (error instanceof TurnOver) return undefined
      throw error
    }
  }

  /** Reads entries of one type, writer and clock: they may share rows. */
  #readGroup(
    memory: SharedArrayBuffer,
    entries: readonly PageEntry[],
    lookups: Lookups,
    believed: BelievedTimes,
  ): ReadGroup {
    const [first] = entries
    const names = first === undefined ? 'unannounced' : this.names.of(first)
    if (typeof names === 'string') {
      return { rows: [], dropped: entries.map((entry) => [entry, entry.count]), reason: names }
    }
    const { stored, writer } = names
    const resolver = this.#writers.resolver(writer, stored)
    const lookup: SeriesLookup = (typeName, labels, symbols) => {
      const series = lookups.of(typeName, labels)
      return series === REFUSED || this.#writers.storeSymbols(writer, symbols) ? series : REFUSED
    }
    // Beyond the limit of labels the records are kept, without these texts.
    this.#writers.storeSymbols(writer, textIdsIn(memory, entries, stored.type))
    const ingested = ingest(memory, entries, { stored, writer: writer.id, resolver, lookup, believed })
    return { ...ingested, reason: 'series_limit', resolver }
  }
}

/** Looks up series for one client, a limited number in each page. */
class Lookups {
  count = 0
  readonly #catalogue: StoreCatalogue
  readonly #client: Client
  readonly #limitCount: number

  constructor(catalogue: StoreCatalogue, client: Client, limitCount: number) {
    this.#catalogue = catalogue
    this.#client = client
    this.#limitCount = limitCount
  }

  of(typeName: string, labels: Labels): StoredSeries {
    if (this.count >= this.#limitCount) throw new TurnOver()
    this.count += textPlaces(JSON.stringify(labels))
    return this.#catalogue.addSeries(typeName, labels, this.#client) ?? REFUSED
  }
}

/** The result of a page. */
class Outcome {
  duplicates = 0
  readonly #behind: bigint[] = []
  readonly #drops = new Map<string, number>()
  readonly #lost: [PageId, number][] = []

  behind(client: Client): void {
    if (client !== undefined) this.#behind.push(client)
  }

  dropped({ dropped, reason }: ReadGroup): void {
    for (const [{ page }, records] of dropped) {
      this.#drops.set(reason, (this.#drops.get(reason) ?? 0) + records)
      if (page !== undefined) this.#lost.push([page, records])
    }
  }

  written(clients: ClientPages): Written {
    const { duplicates } = this
    return {
      dropped: [...this.#drops],
      duplicates,
      lost: this.#lost,
      clients: clients.save(Date.now()),
      behind: this.#behind,
    }
  }
}

/** How many series a client may look up, after the lookups of earlier clients in the page. */
function limitOf(client: Client, lookupCount: number): number {
  if (client === undefined) return Number.POSITIVE_INFINITY
  return Math.max(LEAST_LOOKUP_COUNT, Math.min(CLIENT_LOOKUP_COUNT, PAGE_LOOKUP_COUNT - lookupCount))
}

function groupsOf<K>(entries: readonly PageEntry[], keyOf: (entry: PageEntry) => K): Map<K, PageEntry[]> {
  const groups = new Map<K, PageEntry[]>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}

function recordsOf(entries: readonly PageEntry[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0)
}
