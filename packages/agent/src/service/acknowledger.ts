import { setTimeout as pause } from 'node:timers/promises'
import type { Sink } from '@sonde/sdk'
import type { Client } from './client.ts'

/** Pages of so long are flushed together. Unit: milliseconds. */
const GATHER_MS = 5

/** Records by reason and page. */
type PagesByReason = ReadonlyMap<string, ReadonlyMap<bigint, number>>
const NONE: ReadonlyMap<bigint, number> = new Map()

/** What an acknowledger reports. */
export interface AcknowledgerHandler {
  /** The sinks are done with pages of so many bytes. */
  released(bytes: number): void
  /** A sink threw, or what follows an acknowledgement did; the other sinks and clients are served on. */
  failed(error: unknown): void
}

/**
 * Acknowledges pages when all durable sinks have them. A sink that supports it is flushed for each client, so that no
 * client waits for the pages of another; other sinks have one flush at a time for all clients. Without a durable sink,
 * pages in memory are acknowledged in the same turn.
 */
export class Acknowledger {
  readonly #sinks: readonly Sink[]
  readonly #durable: readonly Sink[]
  readonly #handler: AcknowledgerHandler
  readonly #waiting = new Set<Client>()
  /** Clients with a flush in progress. */
  readonly #flushing = new Map<Client, Promise<void>>()
  #running: Promise<void> | undefined

  /** @param waitedFor Those of the sinks that are waited for where they are durable. Default: all. */
  constructor(sinks: readonly Sink[], handler: AcknowledgerHandler, waitedFor = sinks) {
    this.#sinks = sinks
    this.#durable = waitedFor.filter(({ durable }) => durable === true)
    this.#handler = handler
  }

  /** The meaning of an acknowledgement. */
  get kind(): 'memory' | 'durable' {
    return this.#durable.length > 0 ? 'durable' : 'memory'
  }

  /** The last page of a client that every durable sink has; 0 if that is none, or where no sink is durable. */
  async stored(client: bigint): Promise<bigint> {
    const last = await Promise.all(this.#durable.map((sink) => sink.lastPage?.(client) ?? 0n))
    return last.reduce((least, sequence) => (sequence < least ? sequence : least), last[0] ?? 0n)
  }

  /** Pages of a client wait to be acknowledged. */
  note(client: Client): void {
    this.#waiting.add(client)
    if (!this.#flushing.has(client)) this.#running ??= this.#run()
  }

  /** Resolves when nothing waits. */
  async finish(): Promise<void> {
    while (this.#running !== undefined || this.#flushing.size > 0) {
      await Promise.all([this.#running, ...this.#flushing.values()])
    }
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#durable.length > 0) await pause(GATHER_MS)
      else await new Promise((resolve) => setImmediate(resolve))
      const clients = [...this.#waiting].filter((client) => !this.#flushing.has(client))
      if (clients.length === 0) break
      const shared = this.#flushShared()
      for (const client of clients) {
        this.#waiting.delete(client)
        this.#flushing.set(client, this.#serve(client, shared))
      }
      await shared
    }
    this.#running = undefined
  }

  /** A sink that rejects counts its loss itself, and reports it with `takeLost`. */
  async #flushShared(): Promise<void> {
    await Promise.allSettled(
      this.#durable.map(async (sink) => {
        if (sink.flushClient === undefined) await sink.flush()
      }),
    )
  }

  async #serve(client: Client, shared: Promise<void>): Promise<void> {
    const sequence = client.gather()
    await Promise.allSettled(this.#durable.map(async (sink) => sink.flushClient?.(client.id)))
    await shared
    this.#done(client, sequence)
    this.#flushing.delete(client)
    if (this.#waiting.has(client)) this.#running ??= this.#run()
  }

  #done(client: Client, sequence: bigint): void {
    const { id } = client
    try {
      const lost = (sink: Sink) => new Map([['not_stored', sink.takeLost?.(id, sequence) ?? NONE]])
      const dropped = this.#recordsBy(this.#durable, lost)
      const hidden = this.#recordsBy(this.#sinks, (sink) => sink.takeHidden?.(id, sequence) ?? new Map())
      this.#handler.released(client.done(sequence, { dropped, hidden }))
    } catch (error) {
      this.#handler.failed(error)
    }
  }

  /** Records that sinks lost or hid, by reason. If two sinks lost records of a page, the greater number counts. */
  #recordsBy(sinks: readonly Sink[], take: (sink: Sink) => PagesByReason): Record<string, number> {
    const found = new Map<string, Map<bigint, number>>()
    for (const sink of sinks) {
      for (const [reason, losses] of this.#pagesBy(sink, take)) {
        if (losses.size === 0) continue
        const pages = found.get(reason) ?? new Map<bigint, number>()
        for (const [page, records] of losses) pages.set(page, Math.max(records, pages.get(page) ?? 0))
        found.set(reason, pages)
      }
    }
    const sumOf = (pages: ReadonlyMap<bigint, number>) => pages.values().reduce((sum, records) => sum + records, 0)
    return Object.fromEntries(Array.from(found, ([reason, pages]) => [reason, sumOf(pages)]))
  }

  #pagesBy(sink: Sink, take: (sink: Sink) => PagesByReason): PagesByReason {
    try {
      return take(sink)
    } catch (error) {
      this.#handler.failed(error)
      return new Map()
    }
  }
}
