import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeFrame, type ServiceFrame } from '@sonde/sdk/internal'
import type { Client } from './client.ts'

/** A client that does not read what it is told is told later, and is not read either. Unit: bytes. */
const UNREAD_BYTES_MAX = 64 << 10
/** A client that is told nothing for long takes the service for dead. Unit: milliseconds. */
const SIGN_MS = 900
/** Turns of the loop without anything new after which a client is told what was done. */
const QUIET_TURNS = 2
/** How long a client that goes on sending waits to be told at most. Unit: milliseconds. */
const QUIET_LIMIT_MS = 5

/** What the service says on one connection: frames, and when its client is told what is acknowledged. */
export class Answers {
  /** Who is told; undefined before it is welcome. */
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

  /** Resolves when the client has read what it was told, or does not need to any more; undefined if that is now. */
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
