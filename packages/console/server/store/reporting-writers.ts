import type { SourceInfo } from '@sonde/sdk'
import { ownerOf } from '@sonde/sdk/internal'
import type { AnnouncedWriter } from './announcer.ts'

/** Largest number of reporting sources. */
const WRITER_COUNT_LIMIT = 16_384
/**
 * Largest number of sources of one client: 1 025 that it may have open in one connection, and some of the connection
 * before.
 */
const CLIENT_WRITER_COUNT_LIMIT = 1280

type Client = bigint | undefined

/**
 * Sources that report. If a client has too many, its source that was silent longest is forgotten. If all clients
 * together have too many, the client with the most sources loses one. A forgotten source is announced again when it
 * reports.
 */
export class ReportingWriters {
  /** By client, or for this process; the source that was silent longest is first. */
  readonly #clients = new Map<Client, Map<SourceInfo, AnnouncedWriter>>()
  /** The source that currently reports the series of an owner. */
  readonly #owners = new Map<object, AnnouncedWriter>()
  #count = 0

  get count(): number {
    return this.#count
  }

  has(writer: AnnouncedWriter): boolean {
    return this.#clients.get(writer.client)?.get(writer.source) === writer
  }

  *all(): Generator<AnnouncedWriter> {
    for (const writers of this.#clients.values()) yield* writers.values()
  }

  /** The writer of a reporting source; undefined if unknown. */
  used(source: SourceInfo, client: Client): AnnouncedWriter | undefined {
    const writers = this.#clients.get(client)
    const writer = writers?.get(source)
    if (writers === undefined || writer === undefined) return undefined
    writers.delete(source)
    writers.set(source, writer)
    return writer
  }

  /** Adds a source. Returns the forgotten sources: the source that it replaces, and one to stay within the limit. */
  add(writer: AnnouncedWriter): AnnouncedWriter[] {
    const { client, source } = writer
    const replaced = this.#owners.get(ownerOf(source))
    if (replaced !== undefined) this.#delete(replaced)
    const own = this.#clients.get(client) ?? new Map<SourceInfo, AnnouncedWriter>()
    const isFull = client !== undefined && own.size >= CLIENT_WRITER_COUNT_LIMIT
    const silent = isFull ? own : this.#count >= WRITER_COUNT_LIMIT ? this.#most() : undefined
    const [forgotten] = silent?.values() ?? []
    if (forgotten !== undefined) this.#delete(forgotten)
    this.#clients.set(client, own)
    own.set(source, writer)
    this.#owners.set(ownerOf(source), writer)
    this.#count++
    return [replaced, forgotten].filter((each) => each !== undefined)
  }

  /** Removes a source; undefined if unknown. */
  take(source: SourceInfo): AnnouncedWriter | undefined {
    for (const writers of this.#clients.values()) {
      const writer = writers.get(source)
      if (writer === undefined) continue
      this.#delete(writer)
      return writer
    }
    return undefined
  }

  /** Removes the sources that reported nothing since a time. */
  takeIdle(beforeMs: number): AnnouncedWriter[] {
    const idle: AnnouncedWriter[] = []
    for (const writers of this.#clients.values()) {
      for (const writer of writers.values()) {
        if (writer.lastMs >= beforeMs) break
        idle.push(writer)
      }
    }
    for (const writer of idle) this.#delete(writer)
    return idle
  }

  #most(): Map<SourceInfo, AnnouncedWriter> | undefined {
    return [...this.#clients.values()].reduce((a, b) => (a.size >= b.size ? a : b))
  }

  #delete({ client, source }: AnnouncedWriter): void {
    const writers = this.#clients.get(client)
    if (writers?.delete(source) !== true) return
    this.#count--
    this.#owners.delete(ownerOf(source))
    if (writers.size === 0) this.#clients.delete(client)
  }
}
