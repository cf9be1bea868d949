import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type SocketAddress, socketAddressText } from '../../delivery/connection/socket-address.ts'
import { messageOf } from '../../errors.ts'
import type { Timers } from '../../internal/timers.ts'

/** How long a new collector may take to refuse a packet. Unit: milliseconds. */
const REFUSAL_MS = 50
/** After this time the name of a collector is looked up again. Unit: milliseconds. */
const NAME_AGE_MAX_MS = 300_000

/** The collector, or its host, has refused a packet: an ICMP message says that nobody listens there. */
export class CollectorRefused extends Error {}

/**
 * A UDP socket to one collector. It keeps its port while it lives, because collectors know an exporter by its address
 * and port. UDP has no answers. All that a collector can say is that it refuses.
 */
export class CollectorSocket {
  /** The address as text. */
  readonly shown: string
  readonly #address: SocketAddress
  readonly #timers: Timers
  readonly #wantedPort: number | undefined
  /** The port of the socket before: a new socket takes it again. */
  #lastPort = 0
  #socket: Socket | undefined
  #resolved = { address: '', atMs: 0 }
  #refusals = 0

  constructor(address: SocketAddress, localPort: number | undefined, timers: Timers) {
    this.shown = socketAddressText(address)
    this.#address = address
    this.#wantedPort = localPort
    this.#timers = timers
  }

  /** Number of refusals so far. */
  get refusals(): number {
    return this.#refusals
  }

  /** The error for a refusal. */
  refused(): CollectorRefused {
    return new CollectorRefused(`${this.shown} refused a packet: no collector listens there`)
  }

  /**
   * Opens the socket, if it is not open. Looks the name up again if that is long ago.
   *
   * @returns Whether the socket is new, so that the collector knows no template.
   * @throws Error that names the address and the cause.
   */
  async open(): Promise<boolean> {
    const isOld = this.#timers.nowMs() - this.#resolved.atMs > NAME_AGE_MAX_MS
    if (this.#socket !== undefined && !isOld) return false
    const { host, port } = this.#address
    const { address, family } = await this.#lookUp(host)
    const isSame = address === this.#resolved.address
    this.#resolved = { address, atMs: this.#timers.nowMs() }
    if (this.#socket !== undefined && isSame) return false
    this.close()
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    try {
      await this.#bind(socket)
      socket.connect(port, address)
      await once(socket, 'connect')
    } catch (error) {
      socket.close()
      throw new Error(`${this.shown} cannot be used: ${messageOf(error)}`, { cause: error })
    }
    // What has been sent cannot be stopped, so the socket keeps no process alive.
    socket.unref()
    socket.on('error', () => {
      this.#refusals++
    })
    this.#lastPort = socket.address().port
    this.#socket = socket
    return true
  }

  /**
   * Gives a packet to the kernel.
   *
   * @throws CollectorRefused if an earlier packet was refused; this packet was then not sent. Error with the cause.
   */
  send(packet: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const { shown } = this
      this.#socket?.send(packet, (error) => {
        if (error === null) resolve()
        else if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') {
          this.#refusals++
          reject(this.refused())
        } else reject(new Error(`${shown}: ${wordsOf(error)}`, { cause: error }))
      })
      if (this.#socket === undefined) reject(new Error(`${shown}: the socket is closed`))
    })
  }

  /**
   * Sends a packet, and waits whether the collector refuses it.
   *
   * @throws CollectorRefused if it does. Error with the cause if the kernel does not take the packet.
   */
  async probe(packet: Uint8Array, signal: AbortSignal): Promise<void> {
    const before = this.#refusals
    await this.send(packet)
    if (this.#refusals === before) await this.#refusal(signal)
    if (this.#refusals > before) throw this.refused()
  }

  close(): void {
    this.#socket?.close()
    this.#socket = undefined
  }

  async #refusal(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#timers.after(REFUSAL_MS, resolve)
    const stop = () => resolve()
    this.#socket?.once('error', stop)
    signal.addEventListener('abort', stop, { once: true })
    await promise
    cancel()
    this.#socket?.off('error', stop)
    signal.removeEventListener('abort', stop)
  }

  async #lookUp(host: string): Promise<{ readonly address: string; readonly family: number }> {
    try {
      return await lookup(host)
    } catch (error) {
      // A name server that is away for a moment takes no collector away.
      if (this.#socket !== undefined) return { address: this.#resolved.address, family: 0 }
      throw new Error(`${this.shown} has no address: ${messageOf(error)}`, { cause: error })
    }
  }

  /** Takes the port of before; another if a program has taken it meanwhile. */
  async #bind(socket: Socket): Promise<void> {
    try {
      await bound(socket, this.#wantedPort ?? this.#lastPort)
    } catch (error) {
      if (this.#wantedPort !== undefined || this.#lastPort === 0) throw error
      await bound(socket, 0)
    }
  }
}

async function bound(socket: Socket, port: number): Promise<void> {
  socket.bind(port)
  await once(socket, 'listening')
}

/** The cause of a packet that was not sent, and what to do. */
function wordsOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'EMSGSIZE') return `${error.message}: a packet is larger than the way allows; lower packetBytesMax`
  return error.message
}
