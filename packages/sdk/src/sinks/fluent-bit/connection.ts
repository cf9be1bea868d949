import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { messageOf } from '../../errors.ts'
import { type Decoded, ForwardDecoder } from '../../wire/forward/decode.ts'
import { type ForwardCredentials, faultOfPong, type Helo, heloOf, pingOf } from '../../wire/forward/handshake.ts'

/** Limit of the bytes from a server between two of our messages, without acknowledgements. Unit: bytes. */
const SAID_BYTES_MAX = 64 << 10
/** Size of an acknowledgement at most. Unit: bytes. */
const ACK_BYTES = 64
const SALT_BYTES = 16
/** After this time without traffic, the system asks whether the far end is still there. Unit: milliseconds. */
const KEEPALIVE_MS = 30_000
const KEY_WANTED = 'wants a shared key: set shared_key'

/** The server closed the connection, or the system did. */
export class ConnectionClosed extends Error {}

/** Takes the next message of the server. @throws Error if it is not the expected message. */
type Take = (message: Decoded) => void

/** One connection to a server of Fluent Forward, for one exchange at a time. Its errors name the server. */
export class ForwardConnection {
  /** Whether the server keeps the connection open behind a message. */
  keepalive = true
  /** Whether the connection has carried a message already. */
  wasUsed = false
  readonly #socket: Socket
  readonly #server: string
  readonly #decoder = new ForwardDecoder()
  /** Why the connection cannot be used any more. */
  #fault: Error | undefined
  #take: Take | undefined
  #reject: ((fault: Error) => void) | undefined
  #saidBytes = 0
  #saidBytesMax = SAID_BYTES_MAX

  /** @param server The server, as errors name it. */
  constructor(socket: Socket, server: string) {
    this.#socket = socket
    this.#server = server
    const close = () => this.destroy(new ConnectionClosed(`${server} closed the connection`))
    const fail = (error: Error) => this.destroy(new ConnectionClosed(`${server} broke off: ${error.message}`))
    socket.setKeepAlive(true, KEEPALIVE_MS)
    socket
      .on('data', (bytes) => this.#receive(bytes))
      .on('error', fail)
      .on('end', close)
      .on('close', close)
  }

  /** Whether it can carry another message. */
  get isUsable(): boolean {
    return this.#fault === undefined
  }

  /** Why it cannot be used any more; undefined if it can, or if the server only closed it. */
  get fault(): Error | undefined {
    return this.#fault instanceof ConnectionClosed ? undefined : this.#fault
  }

  destroy(fault: Error): void {
    if (this.#fault !== undefined) return
    this.#fault = fault
    this.#socket.destroy()
    this.#reject?.(fault)
  }

  /**
   * Proves to the server that this client has the key, and has the server prove it too. Call it before anything else.
   *
   * @throws Error that names the missing step.
   */
  async shakeHands(credentials: ForwardCredentials, limitMs: number): Promise<void> {
    const salt = randomBytes(SALT_BYTES)
    const { promise, resolve } = Promise.withResolvers<void>()
    let helo: Helo | undefined
    const take = (message: Decoded) => {
      if (helo === undefined) {
        helo = heloOf(message)
        if (helo === undefined) throw new Error('sent something else than HELO')
        this.keepalive = helo.keepalive
        this.#socket.write(pingOf(helo, salt, credentials))
        return
      }
      const fault = faultOfPong(message, helo, salt, credentials.sharedKey)
      if (fault !== '') throw new Error(fault ?? 'sent something else than PONG')
      resolve()
    }
    const late = () => {
      const missing =
        helo === undefined
          ? 'HELO: without a shared key of its own it never does, nor does a Fluent Bit before 3.0'
          : 'PONG'
      this.destroy(new Error(`${this.#server} did not send within ${limitMs} ms its ${missing}`))
    }
    const timer = setTimeout(late, limitMs)
    try {
      await this.#exchange(take, promise)
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Sends messages. Resolves when the server has acknowledged each id; without ids when the system has taken the bytes.
   *
   * @throws Error that says why not. `onAck` was called for each id that was acknowledged.
   */
  async send(pieces: readonly Uint8Array[], ids: ReadonlySet<string>, onAck: (id: string) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const open = new Set(ids)
    const take = (message: Decoded) => {
      const id = ackOf(message)
      if (!open.delete(id))
        throw new Error(`acknowledged a chunk that it was not sent: ${JSON.stringify(id.slice(0, 40))}`)
      onAck(id)
      if (open.size === 0) resolve()
    }
    this.#saidBytes = 0
    this.#saidBytesMax = SAID_BYTES_MAX + ids.size * ACK_BYTES
    const done = this.#exchange(take, promise)
    this.wasUsed = true
    this.#socket.cork()
    for (const piece of pieces.slice(0, -1)) this.#socket.write(piece)
    this.#socket.write(pieces.at(-1) ?? '', (error) => {
      if (!error && ids.size === 0) resolve()
    })
    this.#socket.uncork()
    await done
  }

  async #exchange(take: Take, done: Promise<void>): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault
    const broken = new Promise<never>((_, reject) => {
      this.#reject = reject
    })
    this.#take = take
    try {
      await Promise.race([done, broken])
    } finally {
      this.#take = undefined
      this.#reject = undefined
    }
  }

  #receive(bytes: Uint8Array): void {
    try {
      this.#saidBytes += bytes.length
      if (this.#saidBytes > this.#saidBytesMax)
        throw new Error(`sent more than ${this.#saidBytesMax} bytes for one answer`)
      for (const message of this.#decoder.push(bytes)) {
        // A bare nil only shows that the server is alive.
        if (message !== null) this.#deliver(message)
      }
    } catch (error) {
      this.destroy(new Error(`${this.#server} ${messageOf(error)}`))
    }
  }

  #deliver(message: Decoded): void {
    if (this.#take === undefined)
      throw new Error(heloOf(message) === undefined ? 'sent a message that nobody asked for' : KEY_WANTED)
    this.#take(message)
  }
}

function ackOf(message: Decoded): string {
  const id = message instanceof Map ? message.get('ack') : undefined
  if (typeof id === 'string') return id
  if (id instanceof Uint8Array) return Buffer.from(id).toString()
  throw new Error(heloOf(message) === undefined ? 'sent something else than an acknowledgement' : KEY_WANTED)
}
