import {
  absenceType,
  allocateViews,
  type Batch,
  countDrop,
  encoderOf,
  type RecordType,
  SondeError,
  type SourceInfo,
  SymbolTable,
  wallNs,
} from '@sonde/sdk'
import { TextTable } from '@sonde/sdk/internal'
import type { SourceStats } from '../pipeline/source-stats.ts'
import type { Probe } from '../sources/source.ts'
import type { FromHost, HostedSource } from './protocol.ts'
import type { Transport, TransportEvents } from './transport.ts'

/** What a remote source and each of its children are made with. */
export interface RemoteOptions {
  readonly hosted: HostedSource
  /** A look without the child, before one is started. Where it finds nothing, none is. */
  readonly look: (() => Probe) | undefined
  /** Types the source may report; batches of others are refused. */
  readonly types: readonly RecordType[]
  readonly start: (events: TransportEvents) => Transport
  readonly accept: (batch: Batch) => void
  readonly stats: SourceStats
  /** Longest a call may take. Unit: milliseconds. */
  readonly callLimitMs: number
  readonly onNoise: (line: string) => void
}

/** The answer to a call. */
export type Done = Extract<FromHost, { kind: 'done' }>

interface Call {
  readonly id: number
  readonly resolve: (done: Done) => void
  readonly reject: (error: SondeError) => void
}

/** The first call also waits for the child to start and load its code. Unit: milliseconds. */
const START_LIMIT_MS = 10_000

/** What a message may have beside records. Unit: bytes. */
const MESSAGE_OVERHEAD_BYTES = 16 << 20
/** Symbols of one life together. Unit: characters. */
const SYMBOL_CHARACTERS_MAX = 64 << 20
/** Memory of the texts of one table: what a source has at a time, and one record of nothing but text. Unit: bytes. */
const TEXT_BYTES_MAX = 16 << 20

/** One life of the child: its transport, its symbols, and the call that is open. */
export class Child {
  readonly transport: Transport
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #options: RemoteOptions
  readonly #types: ReadonlyMap<string, RecordType>
  readonly #symbols = new SymbolTable(4_000_000)
  #texts = new TextTable(this.#symbols)
  readonly #info: SourceInfo
  readonly #onLost: (reason: string, told: { untold: SondeError | undefined }) => void
  #lost = false
  #open: Call | undefined
  #calls = 0
  #receivedBytes = 0
  #symbolCharacters = 0

  /**
   * @param onLost Called once, when it ended or was given up: why, and an error where no open call was rejected with
   * one.
   */
  constructor(
    options: RemoteOptions,
    types: ReadonlyMap<string, RecordType>,
    onLost: (reason: string, told: { untold: SondeError | undefined }) => void,
  ) {
    const { hosted } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#options = options
    this.#types = types
    this.#onLost = onLost
    this.#info = { id: hosted.name, tag: '', labels: {}, symbols: this.#symbols, intervalMs: hosted.intervalMs }
    this.transport = options.start({
      messageBytes: hosted.floodBytes + MESSAGE_OVERHEAD_BYTES,
      onFault: (error) => this.giveUp('sent what is no message', error),
      onMessage: (message) => this.#receive(message),
      onNoise: options.onNoise,
      onExit: (reason) => {
        resolve()
        this.#lose(
          reason,
          new SondeError(
            'AGT_CHILD_EXIT',
            `The ${this.transport.kind} of source ${hosted.name} ${reason}; it is replaced.`,
          ),
        )
      },
    })
    this.transport.send({ kind: 'open', source: hosted })
  }

  call(method: 'probe' | 'sample' | 'close', limitMs: number): Promise<Done> {
    const { name } = this.#options.hosted
    // A call that hangs is still open when the agent stops: then there is no point in another.
    if (this.#open !== undefined)
      return Promise.reject(new SondeError('AGT_CALL_OPEN', `source ${name}: a call is still open`))
    return new Promise((resolve, reject) => {
      const id = ++this.#calls
      const allowedMs = limitMs + (id === 1 && method !== 'close' ? START_LIMIT_MS : 0)
      const timer = setTimeout(() => {
        const said = `A call of source ${name} took more than ${allowedMs} ms; its ${this.transport.kind} is replaced.`
        this.giveUp('did not answer', new SondeError('AGT_CALL_LIMIT', said))
      }, allowedMs)
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer)
          then(value)
        }
      this.#open = { id, resolve: settle(resolve), reject: settle(reject) }
      this.#receivedBytes = 0
      this.transport.send({ kind: 'call', id, method })
    })
  }

  /** Ends it at once, whatever it is doing. */
  giveUp(reason: string, error?: SondeError): void {
    this.transport.kill()
    // One that the kernel holds may end much later, or never: it is lost now.
    this.#lose(reason, error)
  }

  /** Takes all series of this life out of every view: the next child's symbols are others. */
  sayGone(reason: string): void {
    const encode = encoderOf(absenceType, this.#symbols)
    const { recordBytes } = absenceType.layout
    const views = allocateViews(recordBytes * this.#options.types.length)
    const text = `The ${this.transport.kind} of the source ${reason}.`
    this.#options.types.forEach((type, index) => {
      encode(
        { time: wallNs(), type: type.name, series: '', field: '', code: 'gone', reason: text },
        views,
        index * recordBytes,
      )
    })
    const count = this.#options.types.length
    this.#options.stats.accepted({ type: absenceType, count })
    const symbols = new TextTable(this.#symbols)
    this.#accept({ type: absenceType, clock: 'wall', count, bytes: views.bytes, symbols })
  }

  #lose(reason: string, error: SondeError | undefined): void {
    if (this.#lost) return
    this.#lost = true
    const call = this.#open
    this.#open = undefined
    this.#onLost(reason, { untold: call === undefined ? error : undefined })
    if (error !== undefined) call?.reject(error)
  }

  #receive(message: FromHost): void {
    // Its series are gone already: what still comes would bring them back.
    if (this.#lost) return
    if (message.kind === 'symbols') {
      this.#takeSymbols(message.texts)
    } else if (message.kind === 'texts') {
      this.#takeTexts(message)
    } else if (message.kind === 'batch') {
      this.#acceptBatch(message)
    } else if (message.id === this.#open?.id) {
      const call = this.#open
      this.#open = undefined
      call?.resolve(message)
    }
  }

  /** A symbol that is left out would give others its id: with too many the child is given up. */
  #takeTexts({ begins, firstId, texts }: Extract<FromHost, { kind: 'texts' }>): void {
    if (begins) this.#texts = new TextTable(this.#symbols, firstId)
    for (const text of texts) this.#texts.add(text)
    if (this.#texts.textBytes > TEXT_BYTES_MAX) this.giveUp('sent more text than it may')
  }

  #takeSymbols(texts: readonly string[]): void {
    for (const text of texts) {
      this.#symbolCharacters += text.length
      this.#symbols.id(text)
    }
    if (this.#symbolCharacters > SYMBOL_CHARACTERS_MAX) this.giveUp('sent more symbols than it may')
  }

  /** Nothing a child sends is trusted: the type must be declared, the length must fit, and the sum is bounded. */
  #acceptBatch({ type: fingerprint, clock, count, bytes }: Extract<FromHost, { kind: 'batch' }>): void {
    const { stats, hosted } = this.#options
    const type = this.#types.get(fingerprint)
    if (type === undefined || bytes.byteLength !== count * type.layout.recordBytes) {
      countDrop(stats, 'malformed', Math.min(count, bytes.byteLength))
      return
    }
    this.#receivedBytes += bytes.byteLength
    if (this.#receivedBytes > hosted.floodBytes) {
      countDrop(stats, 'flood', count)
      return
    }
    stats.accepted({ type, count })
    this.#accept({ type, clock, count, bytes, symbols: this.#texts })
  }

  #accept(batch: Omit<Batch, 'source' | 'origin' | 'arrivedMs'>): void {
    this.#options.accept({ ...batch, source: this.#info, origin: 'own', arrivedMs: performance.now() })
  }
}
