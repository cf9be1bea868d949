import type { Socket } from 'node:net'
import { crc32 } from 'node:zlib'
import { messageOf, msFactorOf, numberAt, type RecordType, SondeError, type SourceInfo, viewsOf } from '@sonde/sdk'
import {
  type Attach,
  type ClientFrame,
  clientFrames,
  encodeFrame,
  FRAME_HEADER_BYTES,
  type Hello,
  IPC_PROTOCOL,
  PAGE_HEADER_BYTES,
  type ReadPage,
  type ServiceFrame,
  type SourceEntry,
  type SymbolsEntry,
  type TypeEntry,
  turn,
} from '@sonde/sdk/internal'
import { within } from '../pipeline/within.ts'
import type { Client } from './client.ts'
import { ClientSymbols } from './client-symbols.ts'
import { PAGE_BYTES, SOURCE_COUNT, SYMBOL_COUNT, TYPE_COUNT } from './config.ts'
import { Pace } from './pace.ts'
import type { Room } from './room.ts'
import { SlotFile } from './slot-file.ts'

/** How long a client may take to say who it is. Unit: milliseconds. */
const HELLO_LIMIT_MS = 5000
/** How long a client that was sent away may take to read why. Unit: milliseconds. */
const HANG_UP_MS = 1000
/** How long one that says goodbye waits for its last acknowledgement. Unit: milliseconds. */
const BYE_LIMIT_MS = 3000
/** What reading says of a socket that was closed from here. */
const ABORTED = 'ERR_STREAM_PREMATURE_CLOSE'
/** A client that does not read its acknowledgements is told later. Unit: bytes. */
const UNREAD_BYTES_MAX = 64 << 10
/** A client that is told nothing for long takes the service for dead. Unit: milliseconds. */
const SIGN_MS = 900
/** Turns of the loop without anything new after which a client is told what was done. */
const QUIET_TURNS = 2
/** How long a client that goes on sending waits to be told at most. Unit: milliseconds. */
const QUIET_LIMIT_MS = 5
/** A wall clock may run ahead by this much and be believed. Unit: milliseconds. */
const AHEAD_LIMIT_MS = 3_600_000
const INTERVAL_MS_MAX = 86_400_000
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/
/** Says that something is not real; only the simulator says that. */
const OWN_LABELS: ReadonlySet<string> = new Set(['simulated'])

interface ClientSource {
  readonly info: SourceInfo
  readonly symbols: ClientSymbols
}

/** What a client is and did, for the page. */
export interface SessionStatus {
  readonly client: string
  readonly program: string
  readonly pid: number
  readonly version: string
  readonly connectedMs: number
  /** Where its pages are: in a file that both have open, or in the socket. */
  readonly mode: 'shared' | 'inline'
  readonly sources: readonly { readonly id: string; readonly tag: string }[]
  readonly types: readonly string[]
  readonly pages: number
  readonly records: number
  readonly bytes: number
  readonly inFlightBytes: number
  readonly acked: string
}

/** One connection of a client, from its hello to its end. */
export class Session {
  readonly #socket: Socket
  readonly #room: Room
  readonly #connectedMs = Date.now()
  readonly #pace: Pace
  readonly #types = new Map<number, RecordType | 'foreign'>()
  readonly #sources = new Map<number, ClientSource>()
  #hello: Hello | undefined
  #client: Client | undefined
  #file: SlotFile | undefined
  #symbolCount = 0
  /** What is kept of types and symbols. Unit: bytes. */
  #heldBytes = 0
  #frames = 0
  /** The last page that came in this connection. */
  #seen = 0n
  #chunks = 0
  /** Whether it waits until more may be taken. */
  #isSlowed = false
  #isTelling = false
  #saidMs = 0
  #isEnded = false
  /** Resolves when it ends, once nothing more is taken of the client. */
  #pause: PromiseWithResolvers<void> | undefined
  #pages = 0
  #records = 0
  #bytes = 0

  constructor(socket: Socket, room: Room) {
    this.#socket = socket
    this.#room = room
    this.#pace = new Pace(room.config.client_bytes_per_s)
  }

  /** Who is connected; undefined before the hello. */
  get clientId(): bigint | undefined {
    return this.#hello?.client
  }

  /** Serves the client until it leaves, or is sent away. */
  async run(): Promise<void> {
    const socket = this.#socket
    // Errors end the reading below; one that comes later has nobody to tell.
    socket.on('error', () => undefined).on('close', () => this.#left())
    const timer = setTimeout(() => {
      if (this.#hello === undefined) socket.destroy()
    }, HELLO_LIMIT_MS).unref()
    try {
      await this.#serve()
      socket.end()
    } catch (error) {
      this.#fail(error)
    } finally {
      clearTimeout(timer)
      this.#end()
      // Whoever is still sending must not find its answer gone: what comes is thrown away for a while.
      setTimeout(() => socket.destroy(), HANG_UP_MS).unref()
      socket.resume()
    }
  }

  /** Nothing more is taken of the client; it is still told what was acknowledged. */
  pause(): void {
    this.#pause ??= Promise.withResolvers()
  }

  /** Ends it from here. */
  stop(code: string, message: string): void {
    if (this.#isEnded) return
    this.#room.stats.refuse(code)
    this.#send({ kind: 'error', body: { code, message } })
    this.#end()
    this.#socket.destroySoon()
  }

  status(): SessionStatus | undefined {
    const [hello, client] = [this.#hello, this.#client]
    if (hello === undefined || client === undefined) return undefined
    const types = [...this.#types.values()].flatMap((type) => (type === 'foreign' ? [] : [type.name]))
    return {
      client: hello.client.toString(16),
      program: hello.program,
      pid: hello.pid,
      version: hello.version,
      connectedMs: this.#connectedMs,
      mode: this.#file === undefined ? 'inline' : 'shared',
      sources: [...this.#sources.values()].map(({ info: { id, tag } }) => ({ id, tag })),
      types: [...new Set(types)],
      pages: this.#pages,
      records: this.#records,
      bytes: this.#bytes,
      inFlightBytes: client.inFlightBytes,
      acked: String(client.acked),
    }
  }

  async #serve(): Promise<void> {
    const decoder = clientFrames(PAGE_BYTES)
    for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
      this.#chunks++
      for (const frame of decoder.frames(chunk as Buffer)) {
        await this.#pause?.promise
        if (this.#isEnded) return
        await this.#take(frame)
        if (frame.kind === 'bye') return
        while (turn.isOver()) await turn.next()
      }
    }
  }

  async #take(frame: ClientFrame): Promise<void> {
    if (frame.kind === 'hello') return this.#welcome(frame.body)
    const client = this.#client
    if (client === undefined) throw wrong(`the first frame is ${frame.kind}`, 'hello')
    switch (frame.kind) {
      case 'types':
        for (const entry of frame.body) {
          this.#addType(entry)
          while (turn.isOver()) await turn.next()
        }
        break
      case 'source':
        this.#addSource(frame.body)
        break
      case 'symbols':
        this.#addSymbols(frame.body)
        break
      case 'attach':
        this.#attach(frame.body)
        break
      case 'page':
        this.#takePage(client, frame.body)
        this.#isSlowed = true
        await this.#pace.take(frame.body.byteLength + FRAME_HEADER_BYTES + PAGE_HEADER_BYTES)
        await this.#room.inFlight.room(client, this.#heldBytes, () => this.#isEnded)
        this.#isSlowed = false
        break
      case 'bye':
        await within(BYE_LIMIT_MS, client.settled())
    }
  }

  async #welcome(hello: Hello): Promise<void> {
    if (this.#hello !== undefined) throw wrong('a second hello came', 'one')
    if (hello.protocol !== IPC_PROTOCOL) throw wrong(`the protocol is ${hello.protocol}`, `${IPC_PROTOCOL}`)
    this.#hello = hello
    const client = await this.#room.enter(hello.client, this)
    if (this.#isEnded) return
    this.#client = client
    client.onProgress = () => void this.#tellWhenQuiet()
    this.#send({
      kind: 'welcome',
      body: {
        protocol: IPC_PROTOCOL,
        lastSequence: client.acked,
        ack: this.#room.acknowledger.kind,
        limits: {
          pageBytes: PAGE_BYTES,
          types: TYPE_COUNT,
          sources: SOURCE_COUNT,
          symbols: SYMBOL_COUNT,
          clientBytes: this.#room.config.client_bytes,
        },
      },
    })
    // Of a connection before there may be pages that are not acknowledged yet.
    if (client.accepted > client.acked) this.#room.acknowledger.note(client)
  }

  #addType({ index, fingerprint, definition }: TypeEntry): void {
    if (this.#types.has(index)) throw wrong(`type ${index} came twice`, 'once')
    if (this.#types.size >= TYPE_COUNT) throw tooMany('types', TYPE_COUNT)
    if (this.#room.types.isForeignOwn(definition, fingerprint)) {
      this.#types.set(index, 'foreign')
      return
    }
    const { type, bytes } = this.#room.types.take(definition, fingerprint)
    this.#hold(bytes)
    this.#types.set(index, type)
  }

  #addSource({ index, id, tag, labels, intervalMs }: SourceEntry): void {
    if (this.#sources.has(index)) throw wrong(`source ${index} came twice`, 'once')
    if (this.#sources.size >= SOURCE_COUNT) throw tooMany('sources', SOURCE_COUNT)
    if (intervalMs > INTERVAL_MS_MAX) throw wrong(`source.intervalMs is ${intervalMs}`, `at most ${INTERVAL_MS_MAX}`)
    for (const name of Object.keys(labels)) {
      if (!LABEL_NAME.test(name) || OWN_LABELS.has(name)) {
        throw wrong(`label ${JSON.stringify(name)} of source ${id}`, 'letters, digits and _, and none of Sonde itself')
      }
    }
    const symbols = new ClientSymbols()
    this.#sources.set(index, { symbols, info: { id, tag, labels, intervalMs, symbols } })
  }

  #addSymbols({ source, firstId, texts }: SymbolsEntry): void {
    const { symbols } = this.#sourceOf(source)
    if (this.#symbolCount + texts.length > SYMBOL_COUNT) throw tooMany('symbols', SYMBOL_COUNT)
    this.#symbolCount += texts.length
    this.#hold(symbols.announce(firstId, texts))
  }

  #attach(attach: Attach): void {
    if (this.#file !== undefined) throw wrong('a second file was attached', 'one')
    try {
      this.#file = new SlotFile(attach, this.#room.socketsDir, PAGE_BYTES)
      this.#send({ kind: 'attached', body: { ok: true, reason: '' } })
    } catch (error) {
      this.#send({ kind: 'attached', body: { ok: false, reason: messageOf(error).slice(0, 1000) } })
    }
  }

  #takePage(client: Client, page: ReadPage): void {
    const { sequence, count, byteLength, clock } = page
    const { stats } = this.#room
    if (sequence > this.#seen) this.#seen = sequence
    if (sequence <= client.accepted) {
      stats.duplicatePages++
    } else {
      if (client.accepted > 0n) stats.missingPages += Number(sequence - client.accepted - 1n)
      const { info } = this.#sourceOf(page.source)
      const type = this.#typeOf(page.type)
      const bytes = this.#room.pageBytes.subarray(0, byteLength)
      const reason = type === 'foreign' ? 'foreign_type' : this.#refusalOf(type, page, bytes)
      if (type === 'foreign' || reason !== undefined) {
        // A count that lies is counted as no more than its bytes can hold.
        this.#room.drop(client, sequence, reason ?? '', Math.min(count, byteLength))
      } else {
        this.#room.accept({ type, source: info, clock, count, bytes, page: { client: client.id, sequence } }, client)
        this.#pages++
        this.#records += count
        this.#bytes += byteLength
      }
    }
    this.#room.acknowledger.note(client)
  }

  /** Why a page is not taken; its bytes are in `target` where it is. */
  #refusalOf(type: RecordType, { slot, bytes, byteLength, count, crc, clock }: ReadPage, target: Uint8Array) {
    if (count * type.layout.recordBytes !== byteLength || count === 0) return 'wrong_size'
    if (slot === undefined) target.set(bytes ?? [])
    else if (this.#file?.read(slot, target) !== true) return 'wrong_slot'
    if (crc32(target) !== crc) return 'wrong_checksum'
    return clock === 'wall' && isAhead(type, target, count) ? 'time_ahead' : undefined
  }

  #sourceOf(index: number): ClientSource {
    const source = this.#sources.get(index)
    if (source === undefined) throw wrong(`source ${index} was not announced`, 'one that was')
    return source
  }

  #typeOf(index: number): RecordType | 'foreign' {
    const type = this.#types.get(index)
    if (type === undefined) throw wrong(`type ${index} was not announced`, 'one that was')
    return type
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    const limit = this.#room.config.client_bytes
    if (this.#heldBytes > limit / 2) throw tooMany('bytes of types and symbols', limit / 2)
  }

  /** Says that it is alive to a client that has waited for an answer for long. */
  sign(): void {
    const isWaiting = this.#isSlowed || (this.#client !== undefined && this.#client.accepted > this.#client.acked)
    if (isWaiting && performance.now() - this.#saidMs > SIGN_MS) this.#tell()
  }

  /**
   * Acknowledges once nothing has arrived for two turns, or has kept arriving for a while: where the client has ended, an answer closes the socket, and what it
   * handed over before could not be read any more.
   */
  async #tellWhenQuiet(): Promise<void> {
    if (this.#isTelling) return
    this.#isTelling = true
    const endMs = performance.now() + QUIET_LIMIT_MS
    for (let chunks = -1; chunks !== this.#chunks && performance.now() < endMs; ) {
      chunks = this.#chunks
      for (let i = 0; i < QUIET_TURNS; i++) await turn.next()
    }
    this.#isTelling = false
    this.#tell()
  }

  /** Only of pages that came in this connection: of others the client does not expect it. */
  #tell(): void {
    const client = this.#client
    if (client === undefined || this.#isEnded || this.#socket.writableLength > UNREAD_BYTES_MAX) return
    const isAll = client.acked <= this.#seen
    const dropped = isAll ? Object.fromEntries(client.takeDropped()) : {}
    if (this.#seen > 0n) this.#send({ kind: 'ack', body: { sequence: isAll ? client.acked : this.#seen, dropped } })
  }

  #send(frame: ServiceFrame): void {
    if (this.#isEnded || this.#socket.destroyed || !this.#socket.writable) return
    this.#saidMs = performance.now()
    this.#socket.write(encodeFrame(frame, ++this.#frames))
  }

  #fail(error: unknown): void {
    if (this.#isEnded || isOfSocket(error)) return
    if (!(error instanceof SondeError)) {
      this.#room.failed(error)
      return
    }
    this.#room.stats.refuse(error.code)
    this.#room.refused(this.#hello, error)
    this.#send({ kind: 'error', body: { code: error.code, message: error.message.slice(0, 4000) } })
    this.#socket.end()
  }

  /** The socket is closed: whoever waits for room for it waits no longer. */
  #left(): void {
    this.#end()
    this.#room.inFlight.wake()
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#pause?.resolve()
    if (this.#client !== undefined) this.#client.onProgress = undefined
    this.#file?.close()
    for (const { info } of this.#sources.values()) this.#room.gone(info)
    this.#room.leave(this)
  }
}

/** Views look at the first and the last time of a batch: one of the next century would make all others old. */
function isAhead(type: RecordType, bytes: Uint8Array, count: number): boolean {
  if (type.time === undefined) return false
  const views = viewsOf(bytes)
  const limitMs = Date.now() + AHEAD_LIMIT_MS
  const lastOffset = (count - 1) * type.layout.recordBytes
  return [0, lastOffset].some((offset) => numberAt(type.time!, views, offset) * msFactorOf(type) > limitMs)
}

/** Whether the other side is gone, which is nobody's fault. */
function isOfSocket(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined || (error as NodeJS.ErrnoException).code === ABORTED
}

function wrong(found: string, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${found}; allowed: ${allowed}`)
}

function tooMany(what: string, limit: number): SondeError {
  return new SondeError('IPC_LIMIT', `more than ${limit} ${what} of one client; use fewer`)
}
