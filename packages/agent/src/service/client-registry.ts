import { type Batch, countDrop, lossType, opaqueTypes, type Sink, SondeError, type SourceInfo } from '@sonde/sdk'
import {
  absenceType,
  clockType,
  eventType,
  gapType,
  KeptTexts,
  logType,
  markType,
  periodType,
} from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import type { Faults } from '../pipeline/faults.ts'
import { Acknowledger } from './acknowledger.ts'
import { Client } from './client.ts'
import type { ClientSession } from './client-session.ts'
import { PAGE_BYTES, PAGE_MEMORY_OVERHEAD_BYTES, type ServiceConfig } from './config.ts'
import { Departed } from './departed.ts'
import { HangUps } from './hang-ups.ts'
import { HeldMemory } from './held-memory.ts'
import { InFlight } from './in-flight.ts'
import { KnownTypes } from './known-types.ts'
import { Refusals } from './refusals.ts'
import { Secrets } from './secrets.ts'
import { ServiceStats } from './stats.ts'

/**
 * Clients that left and are remembered, so that a page which they send again is recognised where no sink is durable.
 */
const REMEMBERED_COUNT = 4096

/**
 * Connections at a time that have not said who they are; with more, the one that is silent for longest is sent away.
 */
const SILENT_COUNT = 64

/** What a room is made of. */
export interface ClientRegistryOptions {
  readonly config: ServiceConfig
  readonly log: Logger
  readonly faults: Faults
  readonly sinks: readonly Sink[]
  /** Kinds of entities that the agent itself knows of: clients have no say in them. */
  readonly ownKinds: ReadonlySet<string>
  /** Metrics that the agent alone makes: records of clients that have one are dropped. Default: none. */
  readonly madeMetrics?: ReadonlySet<string>
  /** Those of the sinks that an acknowledgement waits for, where they are durable. */
  readonly waitedFor: readonly Sink[]
  /** Where records go. */
  readonly accept: (batch: Batch) => void
  /** Resolves when there may be room for records of a source; undefined if there is. Default: there is. */
  readonly room?: (source: SourceInfo) => Promise<void> | undefined
  /** A source's client left: views show it no longer. */
  readonly gone: (source: SourceInfo) => void
}

/** What all sessions share. */
export class ClientRegistry {
  readonly config: ServiceConfig
  readonly stats = new ServiceStats()
  readonly refusals: Refusals
  readonly types: KnownTypes
  readonly secrets = new Secrets()
  readonly inFlight: InFlight
  readonly held: HeldMemory
  readonly hangUps = new HangUps()
  readonly departed = new Departed((source) => this.gone(source))
  readonly acknowledger: Acknowledger
  /** Where the page in hand lies. */
  readonly pageBytes = new Uint8Array(PAGE_BYTES)
  /** Folder of the socket. */
  socketsDir = ''
  readonly sessions = new Set<ClientSession>()
  readonly #options: ClientRegistryOptions
  /** Texts that the pages in flight keep. */
  readonly #texts = new KeptTexts()
  readonly #clients = new Map<bigint, Client>()

  constructor(options: ClientRegistryOptions) {
    const { config, sinks, waitedFor } = options
    this.config = config
    const own = [absenceType, clockType, eventType, gapType, logType, lossType, markType, periodType, ...opaqueTypes]
    const onIgnored = () => {
      this.stats.ignoredClaims++
    }
    const claims = { ownKinds: options.ownKinds, onIgnored }
    this.types = new KnownTypes(own, config.clients, claims, options.madeMetrics)
    this.refusals = new Refusals(options.log)
    this.#options = options
    const queues = waitedFor.map(({ queueLimitBytes = Number.POSITIVE_INFINITY }) => queueLimitBytes)
    this.inFlight = new InFlight(config, Math.min(...queues))
    this.held = new HeldMemory(config)
    const handler = {
      released: (bytes: number) => this.inFlight.release(bytes),
      failed: (error: unknown) => this.failed(error),
    }
    this.acknowledger = new Acknowledger(sinks, handler, waitedFor)
  }

  /** Identified clients. */
  get clientCount(): number {
    let count = 0
    for (const { clientId } of this.sessions) if (clientId !== undefined) count++
    return count
  }

  /** Somebody connected, and has yet to say who it is: until then it takes no client's place. */
  add(session: ClientSession): void {
    this.sessions.add(session)
    // What the others said already is read before.
    if (this.#silentCount > SILENT_COUNT) setImmediate(() => setImmediate(() => this.#thin()))
  }

  get #silentCount(): number {
    return this.sessions.size - this.clientCount
  }

  #thin(): void {
    let tooMany = this.#silentCount - SILENT_COUNT
    // The one that came first is the first in the set.
    for (const session of this.sessions) {
      if (tooMany <= 0) return
      if (session.clientId !== undefined) continue
      session.stop('IPC_LIMIT', `${SILENT_COUNT} connections have not identified themselves`)
      tooMany--
    }
  }

  /**
   * A client said who it is. Its older connection is closed if it is still open.
   *
   * @throws SondeError `IPC_LIMIT` if there are too many.
   */
  async enter(id: bigint, session: ClientSession): Promise<Client> {
    for (const other of this.sessions) {
      if (other !== session && other.clientId === id) other.stop('IPC_REPLACED', 'the client has another connection')
    }
    const { clients } = this.config
    if (this.clientCount > clients) {
      throw new SondeError('IPC_LIMIT', `${clients} clients are connected; raise service.clients`)
    }
    const stored = await this.acknowledger.stored(id)
    const client = this.#clients.get(id) ?? new Client(id, stored)
    // The one that was here last is the last in the map.
    this.#clients.delete(id)
    this.#clients.set(id, client)
    this.#forget()
    return client
  }

  leave(session: ClientSession): void {
    this.sessions.delete(session)
  }

  /** A page is good: it goes to the sinks. */
  accept(batch: Batch, client: Client): void {
    const { byteLength } = batch.bytes
    const heldBytes = byteLength + PAGE_MEMORY_OVERHEAD_BYTES + this.#texts.bytesOf(batch)
    client.took(batch.page?.sequence ?? 0n, heldBytes)
    this.inFlight.take(heldBytes)
    this.stats.pages++
    this.stats.records += batch.count
    this.stats.bytes += byteLength
    this.#options.accept(batch)
  }

  /** Resolves when there may be room for records of a source; undefined if there is. */
  room(source: SourceInfo): Promise<void> | undefined {
    return this.#options.room?.(source)
  }

  /** A page is not taken. */
  drop(client: Client, sequence: bigint, reason: string, records: number): void {
    client.refused(sequence, reason, records)
    countDrop(this.stats, reason, records)
  }

  gone(source: SourceInfo): void {
    try {
      this.#options.gone(source)
    } catch (error) {
      this.failed(error)
    }
  }

  /** Serving a client failed by a fault of Sonde's own, which concerns no other client. */
  failed(error: unknown): void {
    this.#options.faults.caught('service', error)
  }

  #forget(): void {
    for (const [id, client] of this.#clients) {
      if (this.#clients.size <= REMEMBERED_COUNT) return
      if (client.onProgress === undefined && client.inFlightBytes === 0) this.#clients.delete(id)
    }
  }
}
