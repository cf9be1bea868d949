import { closeSync, constants, openSync, readSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Batch, RecordType, SourceInfo } from '../src/index.ts'
import {
  type ClientFrame,
  clientFrames,
  encodeFrame,
  IPC_PROTOCOL,
  parseDefinition,
  type ReadPage,
  type ServiceFrame,
  type ServiceLimits,
  SOCKET_NAME,
  type SymbolsEntry,
  TEXT_ID_MIN,
  TextTable,
} from '../src/internal/index.ts'
import type { PeerBehaviour } from './tested-sink.ts'

/** What the peer allows where a test says nothing else. */
const LIMITS: ServiceLimits = { pageBytes: 1 << 20, types: 256, sources: 1024, symbols: 65_536, clientBytes: 64 << 20 }

/** The same id and challenge for every client and file; the tests of the service check the secrets. */
const SECRET = '5e'.repeat(32)
const NONCE = 'ab'.repeat(32)

/** A page that came whole: its client, and its records as a batch. */
export interface TakenPage extends Batch {
  readonly client: bigint
  readonly sequence: bigint
  readonly isShared: boolean
}

/** Options of {@link IpcPeer}. */
export interface PeerOptions {
  readonly socketsDir: string
  readonly limits?: Partial<ServiceLimits>
  /** Whether it reads shared memory, or leaves the client without an answer. Default: true. */
  readonly attaches?: boolean | 'silent'
  /** Last page of a client that is stored. Default: the last that was taken. */
  readonly lastSequence?: (client: bigint) => bigint
  /** What of the pages that it stored it says with its welcome to have dropped. Default: nothing. */
  readonly droppedBefore?: () => Readonly<Record<string, number>>
  /** Whether a page that was taken is acknowledged. Default: it is. */
  readonly acknowledges?: () => boolean
  /** Records of each page that it acknowledges as hidden, by reason. Default: none. */
  readonly hidden?: Readonly<Record<string, number>>
  /** What it says after its welcome. Default: nothing. */
  readonly afterWelcome?: () => ServiceFrame | undefined
  /** Given each page that is new, before it is acknowledged. */
  readonly take?: (page: TakenPage) => void
}

/** The least that a service may be, on a real socket: for tests of the client. */
export class IpcPeer {
  behaviour: PeerBehaviour = 'takes'
  /** Pages that were taken, in order. */
  readonly pages: TakenPage[] = []
  /** Frames that came, but pages. */
  readonly said: ClientFrame[] = []
  readonly connections = new Set<Connection>()
  /** Pages that came a second time. */
  duplicates = 0
  greetings = 0
  readonly options: PeerOptions
  #clients = 0n
  readonly #lastTaken = new Map<bigint, bigint>()
  #server: Server | undefined

  constructor(options: PeerOptions) {
    this.options = options
  }

  async listen(): Promise<void> {
    const path = join(this.options.socketsDir, SOCKET_NAME)
    rmSync(path, { force: true })
    const server = createServer((socket) => this.connections.add(new Connection(this, socket)))
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
    this.#server = server
  }

  async leave(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    this.hangUp()
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }

  hangUp(): void {
    for (const { socket } of this.connections) socket.destroy()
    this.connections.clear()
  }

  /** From now on it behaves so, towards new connections: those that are open end. */
  async behave(behaviour: PeerBehaviour): Promise<void> {
    const was = this.behaviour
    this.behaviour = behaviour
    this.hangUp()
    if (behaviour === 'gone' && was !== 'gone') await this.leave()
    if (behaviour !== 'gone' && was === 'gone') await this.listen()
  }

  lastSequence(client: bigint): bigint {
    return this.options.lastSequence?.(client) ?? this.#lastTaken.get(client) ?? 0n
  }

  nextClient(): bigint {
    return ++this.#clients
  }

  take(page: TakenPage): void {
    if (page.sequence <= this.lastSequence(page.client)) {
      this.duplicates++
      return
    }
    this.#lastTaken.set(page.client, page.sequence)
    if (this.options.take === undefined) this.pages.push(page)
    else this.options.take(page)
  }
}

class Connection {
  readonly socket: Socket
  readonly #peer: IpcPeer
  readonly #decoder: ReturnType<typeof clientFrames>
  readonly #types = new Map<number, RecordType>()
  readonly #sources = new Map<number, { readonly info: SourceInfo; readonly texts: string[]; table: TextTable }>()
  #client = 0n
  #file: number | undefined
  #slotBytes = 0
  #sequence = 0

  constructor(peer: IpcPeer, socket: Socket) {
    this.#peer = peer
    this.socket = socket
    this.#decoder = clientFrames({ ...LIMITS, ...peer.options.limits }.pageBytes)
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#decoder.frames(chunk)) this.#hear(frame)
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      if (this.#file !== undefined) closeSync(this.#file)
      peer.connections.delete(this)
    })
  }

  send(message: ServiceFrame): void {
    this.socket.write(encodeFrame(message, ++this.#sequence))
  }

  #hear(frame: ClientFrame): void {
    const { behaviour } = this.#peer
    if (behaviour === 'hangs') return
    if (behaviour === 'fails') {
      this.send({ kind: 'error', body: { code: 'PEER_FAILS', message: 'try again later' } })
      this.socket.end()
      return
    }
    if (frame.kind === 'page') this.#takePage(frame.body)
    else this.#note(frame)
  }

  #note(frame: Exclude<ClientFrame, { kind: 'page' }>): void {
    this.#peer.said.push(frame)
    switch (frame.kind) {
      case 'hello':
        this.#client = frame.body.client === 0n ? this.#peer.nextClient() : frame.body.client
        this.#peer.greetings++
        this.#welcome()
        break
      case 'types':
        for (const { index, definition, fingerprint } of frame.body) {
          this.#types.set(index, parseDefinition(definition, fingerprint))
        }
        break
      case 'source': {
        const texts: string[] = []
        const symbols = { text: (id: number) => texts[id] ?? `?${id}`, count: 0, since: () => [] }
        const { id, tag, labels } = frame.body
        const info = { id, tag, labels, symbols }
        this.#sources.set(frame.body.index, { info, texts, table: new TextTable(symbols) })
        break
      }
      case 'symbols':
        this.#noteSymbols(frame.body)
        break
      case 'attach':
        this.#attach(frame.body.file, frame.body.slotBytes)
        break
      case 'proof':
        this.send({ kind: 'attached', body: { ok: this.#isProof(), reason: '' } })
        break
      default:
        this.socket.end()
    }
  }

  #noteSymbols({ source: index, firstId, texts }: SymbolsEntry): void {
    const source = this.#sources.get(index)
    if (source === undefined) throw new Error('symbols of no source')
    if (firstId >= TEXT_ID_MIN && texts.length === 0) source.table = new TextTable(source.info.symbols, firstId)
    for (const text of texts) {
      if (firstId >= TEXT_ID_MIN) source.table.add(text)
      else source.texts.push(text)
    }
  }

  #welcome(): void {
    const lastSequence = this.#peer.lastSequence(this.#client)
    const limits = { ...LIMITS, ...this.#peer.options.limits }
    const dropped = this.#peer.options.droppedBefore?.() ?? {}
    const who = { client: this.#client, secret: SECRET }
    const body = { protocol: IPC_PROTOCOL, ...who, lastSequence, dropped, hidden: {}, ack: 'memory', limits } as const
    this.send({ kind: 'welcome', body })
    const more = this.#peer.options.afterWelcome?.()
    if (more !== undefined) this.send(more)
  }

  #attach(file: string, slotBytes: number): void {
    const { attaches: ok = true } = this.#peer.options
    if (ok === 'silent') return
    if (!ok) {
      this.send({ kind: 'attached', body: { ok, reason: 'the peer has no shared memory' } })
      return
    }
    this.#file = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW)
    this.#slotBytes = slotBytes
    this.send({ kind: 'challenge', body: { nonce: NONCE } })
  }

  #isProof(): boolean {
    const bytes = Buffer.alloc(NONCE.length / 2)
    return readSync(this.#file ?? -1, bytes, 0, bytes.length, 0) === bytes.length && bytes.toString('hex') === NONCE
  }

  #takePage(page: ReadPage): void {
    const bytes = page.bytes === undefined ? this.#read(page) : Uint8Array.from(page.bytes)
    const type = this.#types.get(page.type)
    const source = this.#sources.get(page.source)
    if (crc32(bytes) !== page.crc || type === undefined || source === undefined) throw new Error('a page that is wrong')
    const { sequence, clock, count } = page
    if (this.#peer.behaviour === 'refuses') {
      this.send({ kind: 'ack', body: { sequence, dropped: { rejected: count }, hidden: {} } })
      return
    }
    this.#peer.take({
      client: this.#client,
      origin: 'client',
      arrivedMs: performance.now(),
      sequence,
      isShared: page.slot !== undefined,
      type,
      source: source.info,
      symbols: source.table,
      clock,
      count,
      bytes,
    })
    const hidden = this.#peer.options.hidden ?? {}
    if (this.#peer.options.acknowledges?.() ?? true) this.send({ kind: 'ack', body: { sequence, dropped: {}, hidden } })
  }

  #read({ slot = 0, byteLength }: ReadPage): Uint8Array {
    const bytes = new Uint8Array(byteLength)
    if (this.#file === undefined || byteLength > this.#slotBytes) throw new Error('a slot that is not there')
    readSync(this.#file, bytes, 0, byteLength, slot * this.#slotBytes)
    return bytes
  }
}
