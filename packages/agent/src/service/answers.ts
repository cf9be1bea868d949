import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeFrame, type ServiceFrame } from '@sonde/sdk/internal'
import type { Client } from './client.ts'

/** Limit of unread answers; above it, the service neither answers nor reads the client. Unit: bytes. */
const UNREAD_BYTES_MAX = 64 << 10
/** Period of answers to a waiting client, which otherwise would consider the service dead. Unit: milliseconds. */
const SIGN_MS = 900
/** Idle turns of the loop after which acknowledgements are sent. */
const QUIET_TURNS = 2
/** How long a client that goes on sending waits to be told at most. Unit: milliseconds. */
const QUIET_LIMIT_MS = 5

/** The answers of the service on one connection: frames and acknowledgements. */
export class Answers {
  /** The client; undefined before its greeting is accepted. */
  client: Client | undefined
  readonly #socket: Socket
  #frames = 0
  /** The last page that came in this connection. */
  #seen = 0n
  #chunks = 0
  #isTelling = false
  #saidMs = 0
  #isEnded = false
  /** Called when the client has read, or the connection is over. */
  #onRead: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('drain', () => this.#onRead?.()).on('close', () => this.#onRead?.())
  }

  /** Resolves when the client has read its answers, or the connection ends; undefined if it need not wait. */
  get unread(): Promise<void> | undefined {
    if (this.#isEnded || this.#socket.destroyed || this.#socket.writableLength <= UNREAD_BYTES_MAX) return undefined
    return new Promise((resolve) => {
      this.#onRead = resolve
    })
  }

  /** Something came from the client. */
  heard(): void {
    this.#chunks++
  }

  /** A page came. */
  saw(sequence: bigint): void {
    if (sequence > this.#seen) this.#seen = sequence
  }

  /** Says nothing more. */
  end(): void {
    this.#isEnded = true
    this.#onRead?.()
  }

  send(frame: ServiceFrame): void {
    if (this.#isEnded || this.#socket.destroyed || !this.#socket.writable) return
    this.#saidMs = performance.now()
    this.#socket.write(encodeFrame(frame, ++this.#frames))
  }

  /**
   * Says that the service is alive to a client that has waited for an answer for long: for an acknowledgement, or
   * because it `isSlowed`.
   */
  sign({ isSlowed }: { readonly isSlowed: boolean }): void {
    const isWaiting = isSlowed || (this.client !== undefined && this.client.accepted > this.client.acked)
    if (isWaiting && performance.now() - this.#saidMs > SIGN_MS) this.#tell()
  }

  /**
   * Acknowledges once nothing has arrived for two turns, or has kept arriving for a while: where the client has ended,
   * an answer closes the socket, and what it handed over before could not be read any more.
   */
  async tellWhenQuiet(): Promise<void> {
    if (this.#isTelling) return
    this.#isTelling = true
    const endMs = performance.now() + QUIET_LIMIT_MS
    for (let chunks = -1; chunks !== this.#chunks && performance.now() < endMs; ) {
      chunks = this.#chunks
      for (let i = 0; i < QUIET_TURNS; i++) await nextTurn()
    }
    this.#isTelling = false
    this.#tell()
  }

  /** Only of pages that came in this connection: of others the client does not expect it. */
  #tell(): void {
    const { client } = this
    const { writable, writableLength } = this.#socket
    if (client === undefined || this.#isEnded || !writable || writableLength > UNREAD_BYTES_MAX) return
    const isAll = client.acked <= this.#seen
    const untaken = isAll ? client.takeUntaken() : { dropped: {}, hidden: {} }
    if (this.#seen > 0n) this.send({ kind: 'ack', body: { sequence: isAll ? client.acked : this.#seen, ...untaken } })
  }
}
