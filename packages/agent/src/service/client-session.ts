import type { Socket } from 'node:net'
import { SondeError } from '@sonde/sdk'
import type { ListedClient } from '@sonde/sdk/api'
import {
  type ClientFrame,
  clientFrames,
  type Hello,
  IPC_PROTOCOL,
  type LinkReader,
  ownLabels,
  type ReadPage,
  type SourceEntry,
  turn,
  within,
} from '@sonde/sdk/internal'
import { announcedBy, wrong } from './announced.ts'
import { Answers } from './answers.ts'
import { Attachment } from './attachment.ts'
import type { Client } from './client.ts'
import { ClientPace } from './client-pace.ts'
import type { ClientRegistry } from './client-registry.ts'
import { PAGE_BYTES, SOURCE_COUNT, SYMBOL_COUNT, TYPE_COUNT } from './config.ts'
import type { TypeShare } from './known-types.ts'
import { SessionPages } from './session-pages.ts'

/** How long a client may take to say who it is. Unit: milliseconds. */
const HELLO_LIMIT_MS = 2000
/** How long one that says goodbye waits for its last acknowledgement. Unit: milliseconds. */
const BYE_LIMIT_MS = 3000
/** The error codes of reads from a socket that this side has closed. */
const ABORTED = 'ERR_STREAM_PREMATURE_CLOSE'

/** One connection of a client, from its hello to its end. */
export class ClientSession {
  readonly #socket: Socket
  readonly #room: ClientRegistry
  readonly #connectedMs = Date.now()
  readonly #pace: ClientPace
  readonly #answers: Answers
  readonly #share: TypeShare
  readonly #announced: LinkReader
  #hello: Hello | undefined
  #clientId: bigint | undefined
  #client: Client | undefined
  readonly #attachment: Attachment
  readonly #pages: SessionPages
  /** Whether it waits until more may be taken. */
  #isSlowed = false
  #isEnded = false
  #hasLeft = false
  /** Resolves when it ends, or its connection is closed: nothing more is waited for. */
  readonly #over = Promise.withResolvers<void>()
  /** Resolves when it ends, once nothing more is taken of the client. */
  #pause: PromiseWithResolvers<void> | undefined

  constructor(socket: Socket, room: ClientRegistry) {
    this.#socket = socket
    this.#answers = new Answers(socket)
    this.#room = room
    // Errors end the read loop; later errors have no handler.
    socket.on('error', () => undefined).on('close', () => this.#over.resolve())
    this.#pace = new ClientPace(room.config.client_bytes_per_s)
    this.#share = room.types.open()
    this.#announced = announcedBy(this.#share, {
      memory: room.held,
      heldBytesMax: room.config.client_bytes / 2,
      ownerOf: (told) => room.departed.arrived(told),
    })
    this.#attachment = new Attachment(room.socketsDir, this.#answers)
    this.#pages = new SessionPages(room, this.#announced)
  }

  /** The client; undefined until its secret is checked. */
  get clientId(): bigint | undefined {
    return this.#clientId
  }

  /** The greeting of the client; undefined before it arrives. */
  get program(): string | undefined {
    return this.#hello?.program
  }

  /** Serves the client until it leaves, or is sent away. */
  async run(): Promise<void> {
    const socket = this.#socket
    const look = () => {
      if (this.#hello === undefined) this.stop('IPC_TIMEOUT', `no hello came within ${HELLO_LIMIT_MS} ms`)
    }
    // What came while the loop was busy is read before.
    const timer = setTimeout(() => setImmediate(look), HELLO_LIMIT_MS).unref()
    try {
      await this.#serve()
      socket.end()
    } catch (error) {
      this.#fail(error)
    } finally {
      clearTimeout(timer)
      this.#end()
      // Discards further data for a while: a close during a send would destroy the answer.
      socket.resume()
    }
  }

  /** Stops reading the client; acknowledgements are still sent. */
  pause(): void {
    this.#pause ??= Promise.withResolvers()
  }

  /** Ends it from here. */
  stop(code: string, message: string): void {
    if (this.#isEnded) return
    this.#room.stats.refuse(code)
    // The others are no fault of anybody.
    if (code === 'IPC_LIMIT' || code === 'IPC_TIMEOUT') this.#room.refusals.tell(this.#hello, { code, message })
    this.#answers.send({ kind: 'error', body: { code, message } })
    this.#end()
    this.#socket.destroySoon()
  }

  status(): ListedClient | undefined {
    const [hello, client] = [this.#hello, this.#client]
    if (hello === undefined || client === undefined) return undefined
    return {
      client: client.id.toString(16),
      program: hello.program,
      pid: hello.pid,
      version: hello.version,
      connectedMs: this.#connectedMs,
      mode: this.#attachment.file === undefined ? 'inline' : 'shared',
      sources: this.#announced.sources.map((source) => ({ id: source.id, tag: source.tag, labels: ownLabels(source) })),
      types: this.#announced.typeNames,
      pages: this.#pages.count,
      records: this.#pages.records,
      bytes: this.#pages.bytes,
      inFlightBytes: client.inFlightBytes,
      acked: String(client.acked),
    }
  }

  async #serve(): Promise<void> {
    const decoder = clientFrames(PAGE_BYTES)
    for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
      this.#answers.heard()
      for (const frame of decoder.frames(chunk as Buffer)) {
        const room = frame.kind === 'page' ? this.#roomFor(frame.body) : undefined
        if (room !== undefined && !(await room)) return
        if (this.#pause !== undefined) await this.#pause.promise
        if (this.#isEnded) return
        // Pages come by the ten thousand a second: few of them wait for anything.
        const rest = frame.kind === 'page' ? this.#takePage(frame.body) : this.#take(frame)
        if (rest !== undefined) await rest
        if (frame.kind === 'bye') return
        // Each frame may be answered: who reads no answer could have them pile up.
        const { unread } = this.#answers
        if (unread !== undefined) await unread
        while (turn.isOver()) await turn.next()
      }
      const pause = this.#pace.take((chunk as Buffer).length)
      if (pause !== undefined) await this.#slow(pause)
    }
  }

  /** Waits until the client may send more. */
  async #slow(...until: (Promise<void> | undefined)[]): Promise<void> {
    this.#isSlowed = true
    await Promise.all(until)
    this.#isSlowed = false
  }

  /**
   * Waits for destinations with the policy `block` that are too full for a page; false if the client left meanwhile.
   * Undefined if there is room.
   */
  #roomFor(page: ReadPage): Promise<boolean> | undefined {
    const client = this.#welcomed('page')
    const room = () => this.#pages.room(client, page)
    const first = room()
    return first && this.#outwait(first, room)
  }

  async #outwait(first: Promise<void>, next: () => Promise<void> | undefined): Promise<boolean> {
    for (let room: Promise<void> | undefined = first; room !== undefined; room = next()) {
      await this.#slow(Promise.race([room, this.#over.promise]))
      if (this.#isEnded || this.#socket.destroyed) return false
    }
    return true
  }

  /** Reads a page. Resolves when the next page may be read; undefined for at once. */
  #takePage(page: ReadPage): Promise<void> | undefined {
    const client = this.#welcomed('page')
    this.#pages.take(client, page, this.#attachment.file)
    this.#answers.saw(page.sequence)
    this.#room.acknowledger.note(client)
    // Inline pages are counted with what came through the socket.
    const pause = page.slot === undefined ? undefined : this.#pace.take(page.byteLength)
    const room = this.#room.inFlight.room(client, this.#announced.heldBytes, () => this.#isEnded)
    return pause === undefined && room === undefined ? undefined : this.#slow(pause, room)
  }

  #welcomed(kind: string): Client {
    if (this.#client === undefined) throw wrong(`the first frame is ${kind}`, 'hello')
    return this.#client
  }

  async #take(frame: Exclude<ClientFrame, { kind: 'page' }>): Promise<void> {
    if (frame.kind === 'hello') return this.#welcome(frame.body)
    const client = this.#welcomed(frame.kind)
    switch (frame.kind) {
      case 'types':
        for (const entry of frame.body) {
          if (this.#isEnded) return
          const { index: key, fingerprint, definition } = entry
          this.#announced.take({ kind: 'type', key, fingerprint, definition })
          while (turn.isOver()) await turn.next()
        }
        break
      case 'source':
        this.#takeSource(frame.body)
        break
      case 'symbols':
        this.#announced.take({ kind: 'symbols', ...frame.body })
        break
      case 'attach':
        this.#attachment.offer(frame.body)
        break
      case 'proof':
        this.#attachment.prove()
        break
      case 'bye':
        this.#hasLeft = true
        await within(BYE_LIMIT_MS, client.settled())
    }
  }

  async #welcome(hello: Hello): Promise<void> {
    if (this.#hello !== undefined) throw wrong('a second hello came', 'one')
    if (hello.protocol !== IPC_PROTOCOL) throw wrong(`the protocol is ${hello.protocol}`, `${IPC_PROTOCOL}`)
    this.#hello = hello
    const identity = this.#room.secrets.identify(hello)
    this.#clientId = identity.client
    const client = await this.#room.enter(identity.client, this)
    if (this.#isEnded) return
    this.#client = client
    this.#answers.client = client
    client.heard(hello.heard)
    client.onProgress = () => void this.#answers.tellWhenQuiet().catch((error: unknown) => this.#fail(error))
    this.#answers.send({
      kind: 'welcome',
      body: {
        protocol: IPC_PROTOCOL,
        ...identity,
        lastSequence: client.acked,
        // The connection ended before the answer.
        ...client.takeUntaken(),
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

  #takeSource({ index: key, replaces, id, tag, labels }: SourceEntry): void {
    this.#announced.take({ kind: 'source', key, replaces, info: { id, tag, labels } })
  }

  /** Says that it is alive to a client that has waited for an answer for long. */
  sign(): void {
    this.#answers.sign({ isSlowed: this.#isSlowed })
  }

  /** A client that said goodbye does not come back. */
  #leaveSources(): void {
    for (const source of this.#announced.sources) this.#room.departed.over(source, { mayReturn: !this.#hasLeft })
  }

  #fail(error: unknown): void {
    if (this.#isEnded || isOfSocket(error)) return
    if (!(error instanceof SondeError)) {
      this.#room.failed(error)
      return
    }
    this.#room.stats.refuse(error.code)
    this.#room.refusals.tell(this.#hello, error)
    this.#answers.send({ kind: 'error', body: { code: error.code, message: error.message.slice(0, 4000) } })
    this.#socket.end()
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#answers.end()
    this.#over.resolve()
    this.#pause?.resolve()
    this.#room.inFlight.wake()
    if (this.#client !== undefined) this.#client.onProgress = undefined
    this.#attachment.close()
    this.#leaveSources()
    this.#announced.close()
    this.#share.close()
    this.#room.leave(this)
    this.#room.hangUps.add(this.#socket)
  }
}

/** Whether the peer has disconnected, which is no fault. */
function isOfSocket(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined || (error as NodeJS.ErrnoException).code === ABORTED
}
