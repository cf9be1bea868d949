import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { textWithout } from '../../delivery/connection/http-result.ts'
import { openSocket } from '../../delivery/connection/open-socket.ts'
import { type SocketAddress, socketAddressText } from '../../delivery/connection/socket-address.ts'
import { SondeError } from '../../errors.ts'
import { type ForwardOptions, readForwardCredentials } from './config.ts'
import { ConnectionClosed, ForwardConnection } from './connection.ts'

const WORDS_CHARACTERS_MAX = 300

/** A server, by TCP or by a Unix socket. */
export type ForwardAddress = SocketAddress | { readonly path: string }

/** One server of Fluent Forward, with its kept connections. */
export class ForwardEndpoint {
  /** The address as text. */
  readonly shown: string
  readonly #address: ForwardAddress
  readonly #options: ForwardOptions
  readonly #handshakeLimitMs: number
  readonly #idle: ForwardConnection[] = []
  /** Connections that carry a message. */
  readonly #busy = new Set<ForwardConnection>()

  constructor(address: ForwardAddress, options: ForwardOptions, handshakeLimitMs: number) {
    this.shown = 'path' in address ? address.path : socketAddressText(address)
    this.#address = address
    this.#options = options
    this.#handshakeLimitMs = handshakeLimitMs
  }

  /**
   * Sends messages over a kept connection, or a new connection.
   *
   * @throws Error with the words of the server, without secrets.
   */
  async send(
    pieces: readonly Uint8Array[],
    ids: ReadonlySet<string>,
    onAck: (id: string) => void,
    signal: AbortSignal,
  ) {
    let isAcknowledged = false
    const note = (id: string) => {
      isAcknowledged = true
      onAck(id)
    }
    const kept = this.#kept()
    if (kept !== undefined) {
      try {
        return await this.#exchange(kept, pieces, ids, note, signal)
      } catch (error) {
        // The server closed an idle connection while the message was on its way: that is no failure.
        if (!(error instanceof ConnectionClosed) || ids.size === 0 || isAcknowledged || signal.aborted) throw error
      }
    }
    return this.#exchange(await this.open(signal), pieces, ids, note, signal)
  }

  /** Opens a connection, with the handshake if there is a key. @throws Error with the words of the server. */
  async open(signal: AbortSignal): Promise<ForwardConnection> {
    // Files and variables may have changed since the last connection.
    const credentials = readForwardCredentials(this.#options)
    const connection = new ForwardConnection(await this.#socket(signal), this.shown)
    if (credentials === undefined) return connection
    try {
      await during(connection, signal, () => connection.shakeHands(credentials, this.#handshakeLimitMs))
      return connection
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      const said = textWithout([credentials.sharedKey, credentials.password].filter(Boolean), words)
      const shown = new Error(said.replace(/\p{Cc}+/gu, ' ').slice(0, WORDS_CHARACTERS_MAX))
      connection.destroy(shown)
      throw shown
    }
  }

  close(): void {
    const closed = new ConnectionClosed('closed')
    for (const connection of [...this.#idle, ...this.#busy]) connection.destroy(closed)
  }

  async #socket(signal: AbortSignal): Promise<Socket> {
    const address = this.#address
    if (!('path' in address)) {
      const { enabled = false, ...tls } = this.#options.tls ?? {}
      return openSocket(address, enabled ? tls : undefined, signal)
    }
    const socket = connect(address)
    try {
      await once(socket, 'connect', { signal })
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /** A kept connection that can be used. */
  #kept(): ForwardConnection | undefined {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.isUsable) return kept
      if (kept.fault !== undefined) throw kept.fault
    }
    return undefined
  }

  async #exchange(
    connection: ForwardConnection,
    pieces: readonly Uint8Array[],
    ids: ReadonlySet<string>,
    onAck: (id: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#busy.add(connection)
    try {
      await during(connection, signal, () => connection.send(pieces, ids, onAck))
      if (connection.keepalive) this.#idle.push(connection)
      else connection.destroy(new ConnectionClosed('the server wants a connection for each message'))
    } catch (error) {
      connection.destroy(error instanceof Error ? error : new SondeError('FWD_MESSAGE', String(error)))
      throw error
    } finally {
      this.#busy.delete(connection)
    }
  }
}

/** Runs an exchange; its connection is destroyed if the signal aborts. */
async function during(connection: ForwardConnection, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  const stop = () => connection.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await run()
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
