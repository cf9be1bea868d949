import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { addExtension, Packr, Unpackr } from 'msgpackr'
import type { PeerBehaviour } from './tested-sink.ts'

const unpackr = new Unpackr({ useRecords: false })
const packr = new Packr({ useRecords: false })
/** The bytes of an EventTime. */
addExtension({ type: 0, unpack: (bytes: Uint8Array) => Buffer.from(bytes) } as never)

/** The MessagePack form of a value, by the independent encoder. */
export const packed = (value: unknown): Buffer => packr.pack(value)

/** An event that a peer took. */
export interface ForwardEvent {
  readonly tag: string
  readonly time: Buffer
  readonly record: Readonly<Record<string, unknown>>
}

/** A message as it came. */
export type ForwardMessage = readonly [tag: string, second: unknown, ...rest: unknown[]]

/**
 * A server of Fluent Forward on the loopback interface that decodes with an independent library and keeps every bit of
 * a u64. Tests set its answers.
 */
export class ForwardPeer {
  readonly events: ForwardEvent[] = []
  /** Chunks in the order in which messages with one came, repetitions too. */
  readonly chunks: string[] = []
  /** Connections so far. */
  connections = 0
  /** Takes a message in place of the usual answer. */
  answer: (message: ForwardMessage, socket: Socket) => void = (message, socket) => this.take(message, socket)
  /** Called for a new connection. */
  greet: (socket: Socket) => void = () => undefined
  readonly #path: string | undefined
  #server: Server
  #port = 0
  #behaviour: PeerBehaviour = 'takes'
  readonly #sockets = new Set<Socket>()

  private constructor(path?: string) {
    this.#path = path
    this.#server = this.#make()
  }

  /** Starts a peer that ends with the test. `path`: of a Unix socket; default: a free port. */
  static async start(t: TestContext, path?: string): Promise<ForwardPeer> {
    const peer = new ForwardPeer(path)
    await peer.#listen()
    t.after(() => peer.#leave())
    return peer
  }

  get port(): number {
    return this.#port
  }

  async behave(behaviour: PeerBehaviour): Promise<void> {
    const was = this.#behaviour
    this.#behaviour = behaviour
    if (behaviour === 'gone' && was !== 'gone') await this.#leave()
    if (behaviour !== 'gone' && was === 'gone') {
      this.#server = this.#make()
      await this.#listen()
    }
  }

  /** Keeps the events of a message, and acknowledges it if it wants that. */
  take(message: ForwardMessage, socket: Socket): void {
    const option = (message.find((each, i) => i >= 2 && isOption(each, message)) ?? {}) as Record<string, unknown>
    this.events.push(...eventsOf(message, option))
    if (typeof option.chunk === 'string') {
      this.chunks.push(option.chunk)
      socket.write(packed({ ack: option.chunk }))
    }
  }

  /** Closes every connection, as a server does with idle connections; resolves when both ends have. */
  async closeConnections(): Promise<void> {
    const closed = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of this.#sockets) socket.end()
    await Promise.all(closed)
  }

  #make(): Server {
    return createServer((socket) => {
      this.connections++
      this.#sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
      let rest: Buffer = Buffer.alloc(0)
      this.greet(socket)
      socket.on('data', (bytes) => {
        rest = Buffer.concat([rest, bytes])
        const { values, end } = decoded(rest)
        rest = rest.subarray(end)
        for (const value of values) this.#receive(value as ForwardMessage, socket)
      })
    })
  }

  #receive(message: ForwardMessage, socket: Socket): void {
    if (this.#behaviour === 'takes') this.answer(message, socket)
    else if (this.#behaviour !== 'hangs') socket.destroy()
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      if (this.#path === undefined) this.#server.listen(this.#port, '127.0.0.1', resolve)
      else this.#server.listen(this.#path, resolve)
    })
    const address = this.#server.address() as AddressInfo | string
    if (typeof address === 'object') this.#port = address.port
  }

  async #leave(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}

/** All whole values at the beginning of bytes, and where they end. */
function decoded(bytes: Buffer): { readonly values: readonly unknown[]; readonly end: number } {
  const values: unknown[] = []
  let end = 0
  try {
    unpackr.unpackMultiple(bytes, ((value: unknown, _start: number, to: number) => {
      values.push(value)
      end = to
    }) as never)
  } catch (error) {
    if ((error as { incomplete?: boolean }).incomplete !== true) throw error
  }
  return { values, end }
}

function isOption(each: unknown, message: ForwardMessage): boolean {
  const isEventOfMessage = !Array.isArray(message[1]) && !isPacked(message[1]) && message.indexOf(each) === 2
  return !isEventOfMessage && typeof each === 'object'
}

function isPacked(second: unknown): second is Buffer {
  return second instanceof Uint8Array && second.length !== 8
}

function eventsOf([tag, second, third]: ForwardMessage, { compressed }: Record<string, unknown>): ForwardEvent[] {
  const event = ([time, record]: [Buffer, ForwardEvent['record']]) => ({ tag, time, record })
  if (Array.isArray(second)) return second.map(event)
  if (!isPacked(second)) return [event([second as Buffer, third as ForwardEvent['record']])]
  const entries = compressed === 'gzip' ? gunzipSync(second) : Buffer.from(second)
  return (decoded(entries).values as [Buffer, ForwardEvent['record']][]).map(event)
}
