import { join } from 'node:path'
import { SondeError } from '../../errors.ts'
import type { LinkItem, Refusal } from '../../link/item.ts'
import { type BatchIds, LinkWriter } from '../../link/writer.ts'
import {
  type ClientMessage,
  type Hello,
  IPC_PROTOCOL,
  type ServiceFrame,
  type Untaken,
  type Welcome,
} from '../../wire/ipc/frame.ts'
import type { IpcConfig } from './config.ts'
import { Connection } from './connection.ts'
import { messagesOf } from './messages.ts'
import { SharedPages } from './shared-pages.ts'
import { SOCKET_NAME } from './sockets-dir.ts'
import type { Spool, SpooledPage } from './spool.ts'

/** Version of this program, as the service shows it. */
export const CLIENT_VERSION = '0.1.0'

/** The share of types, sources and symbols in the memory of a client at the service. Unit: ratio. */
const KEPT_RATIO = 0.5

/** The effort for a page beside its bytes, and for a byte of a message relative to a byte of records. */
const PAGE_EFFORT = 2048
const MESSAGE_EFFORT = 4

/** Who a client is to its service, which gives both and believes the id with the secret only. */
export type Identity = Pick<Hello, 'client' | 'secret'>

/** The client, and the last acknowledgement that it has read. */
export type Caller = Identity & Pick<Hello, 'heard'>

/** A client that no service has welcomed yet. */
export const NOBODY: Identity = { client: 0n, secret: '' }

/** Why a page is never sent. */
export type Obstacle = Refusal | 'too_large'

/** Callbacks of a session. */
export interface SessionHandler {
  /** The service is there. It is done with every page up to `sequence`; of their records it dropped or hid some. */
  onWelcome(sequence: number, untaken: Untaken, identity: Identity): void
  /** The service knows nothing of the client's secret: the next connection is that of a new client. */
  onForgotten(): void
  /** Every page up to `sequence` is done with; of their records the service dropped or hid some. */
  onAck(sequence: number, untaken: Untaken): void
  /** A page can never be sent. */
  onObstacle(page: SpooledPage, reason: Obstacle): void
  /** There is room for pages again. */
  onRoom(): void
  /** Called once, and nothing else afterwards. */
  onEnd(error: SondeError): void
}

/** The protocol of one connection to the service: greeting, shared memory, pages in order, acknowledgements. */
export class Session {
  readonly #caller: Caller
  readonly #config: IpcConfig
  readonly #spool: Spool
  readonly #handler: SessionHandler
  readonly #connection: Connection
  #welcome: Welcome | undefined
  /** The announcements of this connection. */
  #link: LinkWriter | undefined
  readonly #announce = (item: LinkItem) => {
    for (const message of messagesOf(item, this.#config.schema)) this.#send(message)
  }
  #shared: SharedPages | undefined
  /** Sequence of the next page to be sent. */
  #next = 0
  /** Whether the next page waits for a slot. */
  #isHeld = false
  /** Spent in this turn. */
  #effort = 0

  constructor(caller: Caller, config: IpcConfig, spool: Spool, handler: SessionHandler) {
    this.#caller = caller
    this.#config = config
    this.#spool = spool
    this.#handler = handler
    this.#connection = new Connection(join(config.socketsDir, SOCKET_NAME), config.socketTimeoutMs, {
      onOpen: () => this.#greet(),
      onFrame: (frame) => this.#take(frame),
      onRoom: () => handler.onRoom(),
      onEnd: (error) => {
        this.#shared?.close()
        handler.onEnd(error)
      },
    })
  }

  /** The greeting of the service; undefined until it arrives. */
  get welcome(): Welcome | undefined {
    return this.#welcome
  }

  /** Why a type or a source cannot be announced; undefined if all are announced. */
  get fault(): string | undefined {
    return this.#link?.fault
  }

  /** Why pages go through the socket; empty if they lie in shared memory. */
  get inlineReason(): string {
    return this.#shared?.inlineReason ?? 'not connected'
  }

  /**
   * Sends waiting pages while the socket accepts them, within an effort that is measured in bytes of records. Returns
   * whether pages remain.
   */
  pump(effortMax: number): boolean {
    const [spool, connection] = [this.#spool, this.#connection]
    if (this.#welcome === undefined) return false
    this.#effort = 0
    this.#next = Math.max(this.#next, spool.first)
    this.#isHeld = false
    while (this.#next < spool.next && this.#effort < effortMax && !connection.isFull) {
      const page = spool.get(this.#next)
      // Through the socket, a page would be copied into new memory at both ends. At the end of the process no page
      // waits.
      this.#isHeld = page !== undefined && Number.isFinite(effortMax) && this.#shared?.isFullFor(page) === true
      if (this.#isHeld) break
      if (page === undefined || this.#sendPage(page)) this.#next++
    }
    spool.sent = Math.max(spool.sent, this.#next - 1)
    connection.flush()
    connection.expectAnswer(this.#next > spool.first)
    return this.#next < spool.next && !connection.isFull && !this.#isHeld
  }

  /** Says goodbye; resolves when the service has hung up, or after `limitMs`. */
  async leave(limitMs: number): Promise<void> {
    if (this.#welcome !== undefined) {
      this.#connection.send({ kind: 'bye', body: {} })
      await this.#connection.leave(limitMs)
    }
    this.destroy()
  }

  /** Ends the connection without a word; the handler hears nothing more. */
  destroy(): void {
    this.#connection.destroy()
    this.#shared?.close()
  }

  #greet(): void {
    const { program } = this.#config
    const who = { ...this.#caller, pid: process.pid, program, version: CLIENT_VERSION }
    this.#connection.send({ kind: 'hello', body: { protocol: IPC_PROTOCOL, ...who } })
    this.#connection.flush()
    this.#connection.expectAnswer(true)
  }

  /** False if more symbols must be announced first. */
  #sendPage(page: SpooledPage): boolean {
    const ids = this.#idsOf(page)
    if (ids === undefined) return false
    this.#effort += PAGE_EFFORT
    if (typeof ids === 'string') {
      this.#handler.onObstacle(page, ids)
      return true
    }
    const { sequence, clock, count, byteLength, crc } = page
    const slot = this.#shared?.put(page)
    this.#connection.sendPage({ sequence: BigInt(sequence), ...ids, clock, count, byteLength, crc, slot }, page)
    this.#effort += byteLength
    return true
  }

  /** The numbers of the type and source of a page; undefined if more symbols must be announced first. */
  #idsOf(page: SpooledPage): BatchIds | Obstacle | undefined {
    if (page.byteLength > (this.#welcome?.limits.pageBytes ?? 0)) return 'too_large'
    return this.#link?.announce(page, this.#announce)
  }

  #send(message: ClientMessage): void {
    this.#effort += MESSAGE_EFFORT * this.#connection.send(message)
  }

  #take(frame: ServiceFrame): void {
    if (frame.kind === 'error') {
      if (frame.body.code === 'IPC_SECRET') this.#handler.onForgotten()
      throw new SondeError('IPC_REFUSED', `the service gave up with ${frame.body.code}: ${frame.body.message}`)
    }
    if (frame.kind === 'welcome') {
      this.#start(frame.body)
      return
    }
    if (this.#welcome === undefined) throw unexpected(`${frame.kind} before welcome`)
    if (frame.kind === 'challenge') {
      this.#shared?.prove(frame.body)
      this.#connection.flush()
      return
    }
    if (frame.kind === 'attached') {
      this.#shared?.answer(frame.body)
      this.#connection.flush()
      return
    }
    const { sequence } = frame.body
    // It may be of a page that was sent on a connection before.
    if (sequence > BigInt(this.#spool.sent))
      throw unexpected(`an acknowledgement of page ${sequence}, which it was not sent`)
    this.#shared?.release(Number(sequence))
    this.#handler.onAck(Number(sequence), frame.body)
    if (this.#isHeld) this.#handler.onRoom()
    this.#connection.expectAnswer(this.#next > this.#spool.first)
  }

  #start(welcome: Welcome): void {
    if (this.#welcome !== undefined) throw unexpected('welcome twice')
    if (welcome.protocol !== IPC_PROTOCOL) {
      throw new SondeError(
        'IPC_REFUSED',
        `the service speaks protocol ${welcome.protocol}, this client ${IPC_PROTOCOL}; update the older of the two`,
      )
    }
    if (welcome.lastSequence > BigInt(this.#spool.sent)) {
      throw unexpected(`page ${welcome.lastSequence} of this client, which has not sent it yet`)
    }
    const { types, sources, symbols, clientBytes } = welcome.limits
    this.#welcome = welcome
    this.#link = new LinkWriter({ types, sources, symbols, bytes: clientBytes * KEPT_RATIO })
    this.#shared = new SharedPages(this.#config, (message) => this.#send(message))
    this.#connection.flush()
    this.#connection.expectAnswer(false)
    const { client, secret, lastSequence } = welcome
    this.#handler.onWelcome(Number(lastSequence), welcome, { client, secret })
  }
}

function unexpected(what: string): SondeError {
  return new SondeError('IPC_FRAME', `the service sent ${what}; is it of Sonde?`)
}
