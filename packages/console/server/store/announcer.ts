import type { Batch, BatchSymbols, RecordType, SourceInfo } from '@sonde/sdk'
import { AnnouncedSource, definitionOf, Quota } from '@sonde/sdk/internal'
import type { Announcement } from './protocol.ts'
import { ReportingWriters } from './reporting-writers.ts'

const TYPE_COUNT_LIMIT = 4096
/**
 * A type or a source that reported nothing for this long is forgotten; when it reports again it is announced again.
 * Unit: milliseconds.
 */
const IDLE_LIMIT_MS = 600_000

interface Announced {
  readonly key: number
  /** The first client that reported it. */
  readonly client: bigint | undefined
  /** Whether the current worker knows it. */
  isAnnounced: boolean
  /** Number of the last page with records of it, and the time of the last of these records. */
  lastNumber: number
  lastMs: number
}

/** A type that pages refer to by its key. */
export interface AnnouncedType extends Announced {
  readonly type: RecordType
}

/** A source that pages refer to by its key. */
export interface AnnouncedWriter extends Announced {
  readonly source: SourceInfo
  /** The symbols that the current worker knows. */
  readonly symbols: AnnouncedSource
}

/** The names that a page refers to. */
export interface PageNames {
  readonly types: ReadonlySet<AnnouncedType>
  readonly writers: ReadonlySet<AnnouncedWriter>
  readonly tables: ReadonlyMap<BatchSymbols, AnnouncedWriter>
}

/**
 * The names that the worker needs to read pages: types and sources by key, and the symbols of sources. Idle names are
 * forgotten, here and in the worker.
 */
export class Announcer {
  readonly #types = new Map<string, AnnouncedType>()
  readonly #typeQuota = new Quota(TYPE_COUNT_LIMIT)
  readonly #writers = new ReportingWriters()
  /** Forgotten here, but not yet by the worker. */
  readonly #retired = new Set<Announced>()
  #nextKey = 0

  /** Number of names of each kind. */
  get names(): Readonly<Record<string, number>> {
    const { size } = this.#retired
    return { reportingTypes: this.#types.size, reportingSources: this.#writers.count, retired: size }
  }

  /** The type of a batch; undefined if there are too many types, in all or from its client. */
  typeOf({ type, page }: Batch, nowMs: number): AnnouncedType | undefined {
    let found = this.#types.get(type.fingerprint)
    // The entity and other details that this process declares take effect at once, even if a client reported that type
    // before.
    if (found?.client !== undefined && page === undefined) {
      this.#retireType(found)
      found = undefined
    }
    if (found === undefined) {
      if (this.#typeQuota.roomFor(page?.client) <= 0) return undefined
      found = { type, ...this.#announced(page?.client) }
      this.#types.set(type.fingerprint, found)
      this.#typeQuota.add(found.client, 1)
    }
    found.lastMs = nowMs
    return found
  }

  /** The source of a batch. */
  writerOf({ source, page }: Batch, nowMs: number): AnnouncedWriter {
    let found = this.#writers.used(source, page?.client)
    if (found === undefined) {
      const announced = this.#announced(page?.client)
      found = { source, symbols: new AnnouncedSource(announced.key), ...announced }
      for (const writer of this.#writers.add(found)) this.#retired.add(writer)
    }
    found.lastMs = nowMs
    return found
  }

  /** A source has stopped reporting. */
  retire(source: SourceInfo): void {
    const writer = this.#writers.take(source)
    if (writer !== undefined) this.#retired.add(writer)
  }

  /**
   * Returns the names of a page that the worker does not know yet, and the names that no page refers to any more.
   * `oldestNumber` is the number of the oldest waiting page.
   */
  announce({ types, writers, tables }: PageNames, oldestNumber: number, nowMs: number): Announcement {
    this.#retireIdle(nowMs)
    const newTypes = [...types].filter(takeNew)
    const newWriters = [...writers].filter(takeNew)
    return {
      types: newTypes.map(({ key, type }) => ({
        key,
        definition: JSON.stringify(definitionOf(type)),
        fingerprint: type.fingerprint,
      })),
      writers: newWriters.map(({ key, client, source: { id, tag, labels } }) => ({
        key,
        client,
        source: { id, tag, labels: { ...labels } },
      })),
      symbols: [
        ...[...writers].flatMap(({ source, symbols }) => [...symbols.labelItems(source.symbols)]),
        ...[...tables].flatMap(([table, { symbols }]) => [...symbols.textItems(table)]),
      ],
      gone: this.#takeGone(oldestNumber),
    }
  }

  /** A new worker knows no names, so all are announced again, also for waiting pages. */
  restart(pages: readonly PageNames[]): void {
    const types = [...this.#types.values(), ...pages.flatMap(({ types }) => [...types])]
    const writers = [...this.#writers.all(), ...pages.flatMap(({ writers }) => [...writers])]
    for (const type of types) {
      type.isAnnounced = false
      if (this.#types.get(type.type.fingerprint) !== type) this.#retired.add(type)
    }
    for (const writer of writers) {
      writer.isAnnounced = false
      writer.symbols.forget()
      if (!this.#writers.has(writer)) this.#retired.add(writer)
    }
  }

  #announced(client: bigint | undefined): Announced {
    return { client, key: this.#nextKey++, isAnnounced: false, lastNumber: 0, lastMs: 0 }
  }

  #retireIdle(nowMs: number): void {
    const beforeMs = nowMs - IDLE_LIMIT_MS
    for (const writer of this.#writers.takeIdle(beforeMs)) this.#retired.add(writer)
    for (const type of this.#types.values()) if (type.lastMs < beforeMs) this.#retireType(type)
  }

  #retireType(announced: AnnouncedType): void {
    this.#types.delete(announced.type.fingerprint)
    this.#typeQuota.add(announced.client, -1)
    this.#retired.add(announced)
  }

  /** Keys that were last used before a page. */
  #takeGone(oldestNumber: number): number[] {
    const gone = [...this.#retired].filter(({ lastNumber }) => lastNumber < oldestNumber)
    for (const each of gone) this.#retired.delete(each)
    return gone.map(({ key }) => key)
  }
}

function takeNew(announced: Announced): boolean {
  const isNew = !announced.isAnnounced
  announced.isAnnounced = true
  return isNew
}
