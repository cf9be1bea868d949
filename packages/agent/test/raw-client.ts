import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { RecordType } from '@sonde/sdk'
import {
  type ClientMessage,
  definitionOf,
  encodeFrame,
  FRAME_HEADER_BYTES,
  type Hello,
  IPC_PROTOCOL,
  PAGE_HEADER_BYTES,
  type Page,
  type ServiceFrame,
  SOCKET_NAME,
  serviceFrames,
  writePageHeader,
} from '@sonde/sdk/internal'

const LIMIT_MS = 20_000

/** The id and the secret of a client. */
export type Identity = Pick<Hello, 'client' | 'secret'>

const NEW: Identity = { client: 0n, secret: '' }

/** A client that says whatever a test wants, in frames or in bytes. */
export class RawClient {
  /** Everything the service said. */
  readonly frames: ServiceFrame[] = []
  readonly socket: Socket
  /** Whether the connection is over. */
  isClosed = false
  #sequence = 0

  private constructor(socket: Socket) {
    this.socket = socket
    const decoder = serviceFrames()
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
    })
    socket.on('data', (chunk: Buffer) => {
      for (const frame of decoder.frames(chunk)) this.frames.push(frame)
    })
  }

  static async open(socketsDir: string): Promise<RawClient> {
    const socket = connect(join(socketsDir, SOCKET_NAME))
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  /** Connects, says who it is, and waits to be welcome: as a new client, or as one that entered before. */
  static async enter(socketsDir: string, before: Identity | Promise<Identity> = NEW, heard = 0n): Promise<RawClient> {
    const raw = await RawClient.open(socketsDir)
    raw.hello(await before, heard)
    await raw.heard('welcome')
    return raw
  }

  /** Who the service says that this client is. */
  get identity(): Promise<Identity> {
    return this.heard('welcome').then(({ client, secret }) => ({ client, secret }))
  }

  hello(identity: Identity = NEW, heard = 0n): void {
    this.send({
      kind: 'hello',
      body: { protocol: IPC_PROTOCOL, ...identity, heard, pid: process.pid, program: 'test', version: '1' },
    })
  }

  send(...messages: ClientMessage[]): void {
    for (const message of messages) this.socket.write(encodeFrame(message, ++this.#sequence))
  }

  /** Announces a type and a source, both with index 0, and the texts of the source from the first on. */
  announce(type: RecordType, texts: readonly string[] = [], id = 'raw'): void {
    this.send(
      { kind: 'types', body: [{ index: 0, fingerprint: type.fingerprint, definition: definitionOf(type) }] },
      { kind: 'source', body: { index: 0, id, tag: 't', labels: {}, schema: '' } },
      { kind: 'symbols', body: { source: 0, firstId: 0, texts } },
    )
  }

  /** Sends a page of inline bytes, or one that a test made wrong. */
  page(sequence: number, count: number, bytes: Buffer, wrong: Partial<Page> = {}): void {
    const page: Page = {
      sequence: BigInt(sequence),
      source: 0,
      type: 0,
      clock: 'wall',
      count,
      byteLength: bytes.length,
      crc: crc32(bytes),
      slot: undefined,
      ...wrong,
    }
    const head = Buffer.alloc(FRAME_HEADER_BYTES + PAGE_HEADER_BYTES)
    writePageHeader(head, page, ++this.#sequence)
    this.socket.write(page.slot === undefined ? Buffer.concat([head, bytes]) : head)
  }

  /** Waits for a frame of a kind; gives the last. */
  async heard<K extends ServiceFrame['kind']>(kind: K, holds: (body: BodyOf<K>) => boolean = () => true) {
    let found: ServiceFrame | undefined
    await this.#until(
      `a frame ${kind}; heard ${JSON.stringify(this.frames.at(-1), (_, v) => (typeof v === 'bigint' ? String(v) : v))}`,
      () => {
        found = this.frames.findLast((frame) => frame.kind === kind && holds(frame.body as BodyOf<K>))
        return found !== undefined
      },
    )
    return found?.body as BodyOf<K>
  }

  /** Waits until the service has hung up; gives the code with which it did. */
  async refused(): Promise<string | undefined> {
    await this.#until('the service hangs up', () => this.isClosed)
    const last = this.frames.at(-1)
    return last?.kind === 'error' ? last.body.code : undefined
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    for (const endMs = performance.now() + LIMIT_MS; !holds(); ) {
      if (performance.now() > endMs) throw new Error(`not within ${LIMIT_MS} ms: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  close(): void {
    this.socket.destroy()
  }
}

type BodyOf<K extends ServiceFrame['kind']> = Extract<ServiceFrame, { kind: K }>['body']
