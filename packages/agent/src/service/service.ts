import { createServer, type Server, type Socket } from 'node:net'
import type { Source } from '@sonde/sdk'
import type { ListedClient } from '@sonde/sdk/api'
import { messageOf, within } from '@sonde/sdk/internal'
import { startTicker, type Ticker } from '../hosting/scheduler.ts'
import { ClientRegistry, type ClientRegistryOptions } from './client-registry.ts'
import { ClientSession } from './client-session.ts'
import { defaultServiceDir } from './config.ts'
import { SocketsDir } from './directory.ts'
import { reportService } from './stats.ts'

/**
 * How often it looks whether its socket is still there, and where it has none, whether it can have one now. Unit:
 * milliseconds.
 */
const TEND_MS = 1000
/** Period of signs of life to waiting clients. Unit: milliseconds. */
const SIGN_MS = 1000
/** How long the last acknowledgements may take at the end. Unit: milliseconds. */
const CLOSE_LIMIT_MS = 1000

/** How the service fares. */
export interface ServiceStatus {
  /** `failing`: clients cannot connect, for the reason in `reason`; the service tries again. */
  readonly state: 'starting' | 'listening' | 'failing' | 'closed'
  readonly reason: string
  /** Folder of the socket; empty before it has one. */
  readonly socketsDir: string
  /** The meaning of an acknowledgement: `durable` records survive a crash of the agent. */
  readonly ack: 'memory' | 'durable'
  readonly clients: readonly ListedClient[]
}

/**
 * The telemetry service for applications of the machine: their records go to the same sinks as those of the agent's own
 * sources. If its socket is not available, the agent continues without the service.
 */
export class Service {
  /** Resolves when the first attempt to listen is over. */
  readonly settled: Promise<void>
  readonly #room: ClientRegistry
  readonly #options: ClientRegistryOptions
  #state: ServiceStatus['state'] = 'starting'
  #reason = ''
  #directory: SocketsDir | undefined
  #server: Server | undefined
  /** Why the socket has not the group of its folder; empty if it has. */
  #groupFault = ''
  /** The last reason of each warning of an action. */
  readonly #told = new Map<string, string>()
  #ticker: Ticker | undefined
  #signs: Ticker | undefined
  #settle: () => void

  constructor(options: ClientRegistryOptions) {
    this.#options = options
    this.#room = new ClientRegistry(options)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.settled = promise
    this.#settle = resolve
  }

  /** What it counts. */
  get stats() {
    return this.#room.stats
  }

  start(): void {
    const failed = (error: unknown) => this.#room.failed(error)
    this.#ticker = startTicker(TEND_MS, () => this.#tend(), failed, 0)
    const sign = () => {
      for (const session of this.#room.sessions) session.sign()
    }
    this.#signs = startTicker(SIGN_MS, sign, failed)
  }

  /** The program of a client, as it says; undefined if it is not connected. */
  programOf(client: bigint): string | undefined {
    for (const session of this.#room.sessions) if (session.clientId === client) return session.program
    return undefined
  }

  status(): ServiceStatus {
    const clients = [...this.#room.sessions].flatMap((session) => session.status() ?? [])
    const { acknowledger, socketsDir } = this.#room
    return { state: this.#state, reason: this.#reason, socketsDir, ack: acknowledger.kind, clients }
  }

  /** Reports how it fares as records of a source. */
  report(source: Source): void {
    reportService(source, this.stats, {
      isUp: this.#state === 'listening',
      clientCount: this.#room.clientCount,
      inFlightBytes: this.#room.inFlight.bytes,
    })
  }

  /** Stops listening, tries to acknowledge all accepted pages, and ends all connections. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    await this.#ticker?.stop(CLOSE_LIMIT_MS)
    void this.#signs?.stop(0)
    this.#server?.close()
    this.#room.inFlight.close()
    for (const session of this.#room.sessions) session.pause()
    await within(CLOSE_LIMIT_MS, this.#room.acknowledger.finish())
    for (const session of this.#room.sessions) session.stop('IPC_CLOSED', 'the service ends; connect again later')
    this.#room.departed.close()
    this.#directory?.release()
    this.#settle()
  }

  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  async #tend(): Promise<void> {
    if (this.#isClosed) return
    try {
      if (this.#server !== undefined && this.#directory?.hasSocket !== true) await this.#unlisten()
      if (this.#server === undefined) await this.#listen()
      if (this.#isClosed) {
        // It was closed meanwhile, when there was nothing to close yet.
        await this.#unlisten()
        return
      }
      this.#admitGroup()
      this.#turn('listening', '')
    } catch (error) {
      this.#turn('failing', messageOf(error))
    }
    this.#settle()
  }

  async #listen(): Promise<void> {
    const directory = await SocketsDir.take(this.#options.config.sockets_dir)
    const forgotten = 'clients are not recognised after the service is restarted: its key cannot be kept'
    this.#try(() => this.#room.secrets.keepIn(this.#options.config.dir ?? defaultServiceDir()), forgotten)
    const server = createServer((socket) => this.#connect(socket))
    try {
      await directory.listen(server)
    } catch (error) {
      server.close()
      throw error
    }
    // A later error means that one connection could not be accepted.
    server.on('error', () => undefined)
    this.#server = server
    this.#directory = directory
    this.#room.socketsDir = directory.path
    const away = 'clients that look elsewhere are not told where it listens'
    this.#try(() => directory.leaveNote(), away)
    this.#try(() => directory.leaveCommonNote(), away)
  }

  /** Runs an action whose failure does not stop the service. A failure for the same reason is logged once. */
  #try(act: () => void, otherwise: string): void {
    try {
      act()
    } catch (error) {
      const reason = messageOf(error)
      if (this.#told.get(otherwise) === reason) return
      this.#told.set(otherwise, reason)
      this.#options.log.warn({ reason }, otherwise)
    }
  }

  /** Logs once if the socket has another group than its folder: members of the group cannot connect. */
  #admitGroup(): void {
    let fault = ''
    try {
      this.#directory?.admitGroup()
    } catch (error) {
      fault = messageOf(error)
    }
    if (fault !== '' && fault !== this.#groupFault) {
      this.#options.log.warn({ reason: fault }, 'members of the group of the folder cannot report to this agent')
    }
    this.#groupFault = fault
  }

  async #unlisten(): Promise<void> {
    this.#server?.close()
    this.#server = undefined
    this.#directory?.release()
    this.#directory = undefined
  }

  #connect(socket: Socket): void {
    this.#room.stats.connections++
    const session = new ClientSession(socket, this.#room)
    this.#room.add(session)
    session.run().catch((error: unknown) => this.#room.failed(error))
  }

  #turn(state: ServiceStatus['state'], reason: string): void {
    if (this.#isClosed || (this.#state === state && this.#reason === reason)) return
    const isNews = this.#state !== 'starting' || state === 'failing'
    this.#state = state
    this.#reason = reason
    const { log } = this.#options
    if (state === 'failing') log.warn({ reason }, 'applications cannot report to this agent; it is tried again')
    else if (isNews) log.info({ socketsDir: this.#room.socketsDir }, 'applications can report again')
  }
}
