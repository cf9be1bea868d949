import { SondeError } from '../../errors.ts'
import { type ClientFrame, FRAME_HEADER_BYTES, FRAME_KINDS, PAGE_OVERHEAD_BYTES, type ServiceFrame } from './frame.ts'
import { messageBytesMax } from './json-limits.ts'
import {
  parseAck,
  parseAttach,
  parseAttached,
  parseChallenge,
  parseEmpty,
  parseError,
  parseHello,
  parseJson,
  parseSource,
  parseTypes,
  parseWelcome,
} from './message.ts'
import { decodePage, decodeSymbols } from './payload.ts'

type Parse<F> = (payload: Buffer) => F

/** Frames as a service reads them. `pageBytesMax` is `limits.pageBytes` of its welcome. */
export function clientFrames(pageBytesMax: number): FrameDecoder<ClientFrame> {
  return new FrameDecoder<ClientFrame>(
    {
      [FRAME_KINDS.hello]: (payload) => ({ kind: 'hello', body: parseHello(parseJson('hello', payload)) }),
      [FRAME_KINDS.types]: (payload) => ({ kind: 'types', body: parseTypes(parseJson('types', payload)) }),
      [FRAME_KINDS.source]: (payload) => ({ kind: 'source', body: parseSource(parseJson('source', payload)) }),
      [FRAME_KINDS.symbols]: (payload) => ({ kind: 'symbols', body: decodeSymbols(payload) }),
      [FRAME_KINDS.attach]: (payload) => ({ kind: 'attach', body: parseAttach(parseJson('attach', payload)) }),
      [FRAME_KINDS.page]: (payload) => ({ kind: 'page', body: decodePage(payload, pageBytesMax) }),
      [FRAME_KINDS.bye]: (payload) => ({ kind: 'bye', body: parseEmpty('bye', parseJson('bye', payload)) }),
      [FRAME_KINDS.proof]: (payload) => ({ kind: 'proof', body: parseEmpty('proof', parseJson('proof', payload)) }),
    },
    pageBytesMax + PAGE_OVERHEAD_BYTES,
  )
}

/** Frames as a client reads them. */
export function serviceFrames(): FrameDecoder<ServiceFrame> {
  return new FrameDecoder<ServiceFrame>(
    {
      [FRAME_KINDS.welcome]: (payload) => ({ kind: 'welcome', body: parseWelcome(parseJson('welcome', payload)) }),
      [FRAME_KINDS.challenge]: (payload) => ({
        kind: 'challenge',
        body: parseChallenge(parseJson('challenge', payload)),
      }),
      [FRAME_KINDS.attached]: (payload) => ({ kind: 'attached', body: parseAttached(parseJson('attached', payload)) }),
      [FRAME_KINDS.ack]: (payload) => ({ kind: 'ack', body: parseAck(parseJson('ack', payload)) }),
      [FRAME_KINDS.error]: (payload) => ({ kind: 'error', body: parseError(parseJson('error', payload)) }),
    },
    0,
  )
}

/**
 * Frames out of a stream of chunks. Once it has thrown it is of no use any more: nobody knows where the next frame
 * would begin. Memory is that of the longest frame so far that did not lie within one chunk.
 */
export class FrameDecoder<F> {
  readonly #parsers: Readonly<Record<number, Parse<F>>>
  readonly #pageFrameBytesMax: number
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES)
  #headerBytes = 0
  /** Buffer for a frame that comes in several chunks. */
  #payload: Buffer = Buffer.alloc(0)
  #payloadBytes = 0
  #sequence = 0
  #failed: SondeError | undefined

  constructor(parsers: Readonly<Record<number, Parse<F>>>, pageFrameBytesMax: number) {
    this.#parsers = parsers
    this.#pageFrameBytesMax = pageFrameBytesMax
  }

  /** Whether the stream may end here: no frame has begun. */
  get isBetweenFrames(): boolean {
    return this.#headerBytes === 0
  }

  /**
   * The frames that a chunk completes, in order. The bytes of a frame are valid until the next frame is requested.
   * Iterate to the end: the rest of the chunk is read last.
   *
   * @throws SondeError `IPC_FRAME` for bytes that are no frame.
   */
  *frames(chunk: Buffer): Generator<F, void, undefined> {
    if (this.#failed !== undefined) throw this.#failed
    try {
      for (let at = 0; at < chunk.length; ) {
        if (this.#headerBytes < FRAME_HEADER_BYTES) {
          const bytes = chunk.copy(this.#header, this.#headerBytes, at)
          this.#headerBytes += bytes
          at += bytes
          if (this.#headerBytes < FRAME_HEADER_BYTES) return
          this.#checkHeader()
        }
        const missing = this.#header.readUInt32LE(0) - this.#payloadBytes
        const end = Math.min(chunk.length, at + missing)
        const payload = this.#take(chunk.subarray(at, end), missing)
        at = end
        if (payload !== undefined) yield this.#parse(payload)
      }
    } catch (error) {
      // A caller may throw into the generator; only a faulty frame ends the stream.
      if (error instanceof SondeError) this.#failed = error
      throw error
    }
  }

  #checkHeader(): void {
    const length = this.#header.readUInt32LE(0)
    const kind = this.#header.readUInt8(4)
    const sequence = this.#header.readUInt32LE(8)
    if (this.#parsers[kind] === undefined) throw wrong(`a frame is of kind ${kind}`, 'those that the other side sends')
    const lengthMax = kind === FRAME_KINDS.page ? this.#pageFrameBytesMax : messageBytesMax(kind)
    if (length === 0 || length > lengthMax) {
      throw wrong(`a frame of kind ${kind} is ${length} bytes long`, `1 to ${lengthMax}`)
    }
    if (this.#header.readUInt8(5) !== 0 || this.#header.readUInt16LE(6) !== 0) {
      throw wrong(`flags of a frame of kind ${kind} are set`, 'none')
    }
    const expected = (this.#sequence + 1) >>> 0
    if (sequence !== expected) throw wrong(`a frame has the sequence ${sequence}`, `${expected}, the next one`)
    this.#sequence = sequence
  }

  /** The payload, once it is complete. */
  #take(piece: Buffer, missing: number): Buffer | undefined {
    if (this.#payloadBytes === 0 && piece.length === missing) return piece
    const length = this.#payloadBytes + missing
    if (this.#payload.length < length) this.#payload = grown(this.#payload, this.#payloadBytes, length)
    piece.copy(this.#payload, this.#payloadBytes)
    this.#payloadBytes += piece.length
    return this.#payloadBytes === length ? this.#payload.subarray(0, length) : undefined
  }

  #parse(payload: Buffer): F {
    const parse = this.#parsers[this.#header.readUInt8(4)] as Parse<F>
    this.#headerBytes = 0
    this.#payloadBytes = 0
    return parse(payload)
  }
}

/** Untouched memory costs nothing, so that a length that lies costs its sender's memory only. */
function grown(payload: Buffer, usedBytes: number, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length)
  payload.copy(larger, 0, 0, usedBytes)
  return larger
}

function wrong(found: string, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${found}; allowed: ${allowed}`)
}
