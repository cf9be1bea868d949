import { createConnection, type Socket } from 'node:net'
import { messageOf, SondeError } from '../../errors.ts'
import { serviceFrames } from '../../wire/ipc/decode.ts'
import { encodeFrame, writePageHeader } from '../../wire/ipc/encode.ts'
import type { ClientMessage, Page, ServiceFrame } from '../../wire/ipc/frame.ts'
import { HEADROOM_BYTES, type SpooledPage } from './spool.ts'

/** Shorter frames go together, in one write: that costs less than a write, or a slot, for each. */
export const SHORT_BYTES = 4096

/** Callbacks of a connection. */
export interface ConnectionHandler {
  onOpen(): void
  /** @throws SondeError if the frame makes no sense: the connection ends with it. */
  onFrame(frame: ServiceFrame): void
  /** There is room again after `isFull`. */
  onRoom(): void
  /** Called once, and nothing else afterwards. */
  onEnd(error: SondeError): void
}

/** One connection to the service: frames in and out, and the watch on its silence. */
export class Connection {
  readonly #path: string
  readonly #timeoutMs: number
  readonly #handler: ConnectionHandler
  readonly #socket: Socket
  readonly #decoder = serviceFrames()
  /** Frames that go with the next write. */
  #waiting: Buffer[] = []
  #sequence = 0
  #isOver = false
  /** When the service gave the last sign of life, or was first asked for one. */
  #aliveMs = 0
  #isExpecting = false
  #watch: NodeJS.Timeout | undefined

  constructor(path: string, timeoutMs: number, handler: ConnectionHandler) {
    this.#path = path
    this.#timeoutMs = timeoutMs
    this.#handler = handler
    const socket = createConnection(path)
    this.#socket = socket
    // An application that is done must not be kept alive by its telemetry; who waits for a flush keeps it.
    socket.unref()
    socket.on('connect', () => handler.onOpen())
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('drain', () => {
      this.#aliveMs = performance.now()
      handler.onRoom()
    })
    socket.on('error', (error) => this.#end(this.#failure(error)))
    socket.on('close', () => this.#end(new SondeError('IPC_CONNECTION', `the service at ${path} hung up`)))
  }

  /** Whether the socket has taken as much as it wants for now. */
  get isFull(): boolean {
    return this.#socket.writableLength >= this.#socket.writableHighWaterMark
  }

  /** Sends a message with the next `flush`; gives its length. */
  send(message: ClientMessage): number {
    const frame = encodeFrame(message, this.#sequence + 1)
    this.#sequence++
    this.#waiting.push(frame)
    return frame.length
  }

  /**
   * Sends a page: with the next `flush`, or at once where it is long and lies in no slot, so that it need not be
   * copied.
   */
  sendPage(page: Page, spooled: SpooledPage): void {
    this.#sequence++
    const isInline = page.slot === undefined
    const header = isInline ? spooled.block : Buffer.allocUnsafe(HEADROOM_BYTES)
    writePageHeader(header, page, this.#sequence)
    const frame = header.subarray(0, HEADROOM_BYTES + (isInline ? page.byteLength : 0))
    if (frame.length < SHORT_BYTES) {
      this.#waiting.push(frame)
      return
    }
    this.flush()
    spooled.writes++
    this.#socket.write(frame, () => {
      spooled.writes--
    })
  }

  /** Passes the sent frames to the socket, which accepts what it can at once. */
  flush(): void {
    const frames = this.#waiting
    if (frames.length === 0) return
    this.#waiting = []
    this.#socket.write(Buffer.concat(frames))
  }

  /** Whether a page is unacknowledged: silence then means that the service is gone. */
  expectAnswer(isExpecting: boolean): void {
    if (isExpecting && !this.#isExpecting) this.#aliveMs = performance.now()
    this.#isExpecting = isExpecting
    if (isExpecting && this.#watch === undefined && !this.#isOver) this.#watchFor(this.#timeoutMs)
  }

  /** Hangs up once everything was taken; resolves when the service has hung up too, or after `limitMs`. */
  async leave(limitMs: number): Promise<void> {
    if (this.#isOver) return
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, limitMs)
      this.#socket.once('close', () => {
        clearTimeout(limit)
        resolve()
      })
      this.flush()
      this.#socket.end()
    })
    this.destroy()
  }

  /** Ends it without a word; the handler hears nothing more. */
  destroy(): void {
    this.#isOver = true
    clearTimeout(this.#watch)
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#aliveMs = performance.now()
    try {
      for (const frame of this.#decoder.frames(chunk)) {
        if (this.#isOver) return
        this.#handler.onFrame(frame)
      }
    } catch (error) {
      this.#end(error instanceof SondeError ? error : this.#failure(error))
    }
  }

  #watchFor(durationMs: number): void {
    // Checks in an immediate, after the sockets: data that arrived while the loop was busy is read first.
    const look = () => {
      this.#watch = undefined
      if (this.#isOver || !this.#isExpecting) return
      const leftMs = this.#aliveMs + this.#timeoutMs - performance.now()
      if (leftMs > 0) this.#watchFor(leftMs)
      else this.#end(new SondeError('IPC_TIMEOUT', `the service at ${this.#path} is silent for ${this.#timeoutMs} ms`))
    }
    this.#watch = setTimeout(() => setImmediate(look).unref(), Math.ceil(durationMs)).unref()
  }

  #failure(cause: unknown): SondeError {
    return new SondeError('IPC_CONNECTION', `the service at ${this.#path} is out of reach: ${messageOf(cause)}`, {
      cause,
    })
  }

  #end(error: SondeError): void {
    if (this.#isOver) return
    this.destroy()
    this.#handler.onEnd(error)
  }
}
