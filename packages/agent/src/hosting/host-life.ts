import { countDrop, SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import { FairLimit } from '../processor/fair-limit.ts'
import { readingsOf } from '../processor/readings.ts'
import { EdgeGate, STARTS_A_MINUTE } from './edge-gate.ts'
import type { TakePiece } from './host.ts'
import { LinkIn } from './link-in.ts'
import type { EdgeMessage, FromHost, LinkMessage, Reply, StatusMessage, ToHost } from './protocol.ts'
import type { RemoteOptions } from './remote-host.ts'
import type { RemoteSource } from './remote-source.ts'
import type { Transport } from './transport.ts'

/** It also has to start and to load its code before the first message. Unit: milliseconds. */
const START_LIMIT_MS = 10_000
/** Longest message: the records of one batch, or a thousand symbols. Unit: bytes. */
const MESSAGE_BYTES_MAX = 64 << 20

/** Options of a {@link HostLife}. */
export interface LifeOptions extends RemoteOptions {
  /** Called once, when the host has ended or is abandoned; not after a requested stop. */
  readonly onLost: (error: SondeError) => void
}

interface Running {
  readonly source: RemoteSource
  readonly link: LinkIn
  readonly edges: EdgeGate
}

interface PendingRequest {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: SondeError) => void
  /** Takes the pieces of a window. */
  readonly take: TakePiece | undefined
  /** Resolves when the pieces so far are taken. */
  taken: Promise<void>
}

/** One life of a remote host: its transport, its sources, and pending requests. */
export class HostLife {
  readonly transport: Transport
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #options: LifeOptions
  readonly #running = new Map<string, Running>()
  readonly #asked = new Map<number, PendingRequest>()
  /** Of the time since something was heard. */
  readonly #silence: FairLimit
  #stopped: PromiseWithResolvers<readonly string[]> | undefined
  #isLost = false
  #isStarved = false
  #ids = 0

  constructor(options: LifeOptions) {
    const { callLimitMs, label, log } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#options = options
    this.transport = options.start({
      messageBytes: MESSAGE_BYTES_MAX,
      onFault: (error) => this.giveUp(error),
      onMessage: (message) => this.#receive(message),
      onNoise: (line) => log.warn({ host: label, line }, 'host wrote to standard error'),
      onExit: (reason) => {
        resolve()
        this.#lose(new SondeError('AGT_CHILD_EXIT', `The ${this.#what} ${reason}; it is replaced.`))
      },
    })
    this.#silence = new FairLimit({
      limitMs: callLimitMs + START_LIMIT_MS,
      read: () => readingsOf(this.transport.place),
      onOver: () => this.#beSilent(),
      onShort: (words) => this.#starve(words),
    })
  }

  get #what(): string {
    return `${this.transport.kind} of ${this.#options.label}`
  }

  /** The sources that it runs. */
  sources(): RemoteSource[] {
    return [...this.#running.values()].map(({ source }) => source)
  }

  /** Whether a source was sent to it. */
  runs(source: string): boolean {
    return this.#running.has(source)
  }

  start(source: RemoteSource): void {
    const { owner, life, given } = source
    const { config, definition, status } = given
    const { name, intervalMs, floodBytes, startsAMinute = STARTS_A_MINUTE } = config
    const { types, labels = {} } = definition
    const link = new LinkIn({ name, owner, life, intervalMs, floodBytes, types, labels, stats: status.stats })
    this.#running.set(name, { source, link, edges: new EdgeGate({ startsMax: 2 * startsAMinute }) })
    this.transport.send({ kind: 'start', source: config })
  }

  /** Asks something that is answered by a reply; one that does not come in time is an error. */
  ask(messageOf: (id: number) => ToHost, take?: TakePiece): Promise<Reply> {
    if (this.#isLost) return Promise.reject(this.#stoppedError())
    const id = ++this.#ids
    const { callLimitMs, label } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    this.#asked.set(id, { resolve, reject, take, taken: Promise.resolve() })
    const limitMs = callLimitMs + START_LIMIT_MS
    const limit = new FairLimit({
      limitMs,
      read: () => readingsOf(this.transport.place),
      onOver: () => reject(new SondeError('AGT_CALL_LIMIT', `The host of ${label} gave no answer in ${limitMs} ms`)),
      onShort: (words) => reject(new SondeError('AGT_STARVED', `The host of ${label} gave no answer yet: ${words}`)),
    }).keepAlive()
    // A window has no time limit of its own: its reader sets the pace.
    if (take !== undefined) limit.stop()
    this.transport.send(messageOf(id))
    return promise.finally(() => {
      limit.stop()
      this.#asked.delete(id)
    })
  }

  /** Asks it to end, and kills it at the deadline; the calls that were open then. */
  async stop(deadlineMs: number): Promise<readonly string[]> {
    this.#stopped = Promise.withResolvers()
    let open: readonly string[] = ['a call that blocks its loop']
    this.transport.send({ kind: 'stop', deadlineMs: deadlineMs / 2 })
    const told = this.#stopped.promise.then((calls) => {
      open = calls
    })
    const gone = this.ended.then(() => {
      open = []
    })
    await within(deadlineMs, Promise.race([told, gone]))
    this.#lose(this.#stoppedError())
    // The kill that follows ends it in any case.
    this.transport.kill()
    return open
  }

  /** Kills it at once. */
  giveUp(error: SondeError): void {
    this.transport.kill()
    // One that the kernel holds may end much later, or never: it is lost now.
    this.#lose(error)
  }

  #lose(error: SondeError): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#silence.stop()
    for (const { reject } of this.#asked.values()) reject(error)
    if (this.#stopped !== undefined) return
    this.#options.onLost(error)
  }

  #stoppedError(): SondeError {
    return new SondeError('AGT_CHILD_EXIT', `The ${this.#what} was stopped`)
  }

  /** The host is slow without a fault of its own, and continues. */
  #starve(words: string): void {
    this.#isStarved = true
    for (const { source } of this.#running.values()) source.given.status.starve(words)
  }

  #beSilent(): void {
    const said = `The ${this.#what} has not answered for ${this.#options.callLimitMs} ms; it is replaced.`
    this.giveUp(new SondeError('AGT_CALL_LIMIT', said))
  }

  #receive(message: FromHost): void {
    // Its series wait for the next life or left: what still comes would change them.
    if (this.#isLost) return
    this.#silence.restart(this.#options.callLimitMs)
    if (this.#isStarved) {
      this.#isStarved = false
      for (const { source } of this.#running.values()) source.given.status.goOn()
    }
    if (message.kind === 'status') this.#takeStatus(message)
    else if (message.kind === 'reply') void this.#takeReply(message)
    else if (message.kind === 'stopped') this.#stopped?.resolve(message.open)
    else if (message.kind === 'blocked') {
      const said = `The ${this.#what} has nothing but stuck calls; it is replaced.`
      this.giveUp(new SondeError('SRC_STUCK', said))
    } else if (message.kind === 'edge') this.#takeEdge(message)
    else if (message.kind !== 'beat') this.#takeLink(message)
  }

  #takeEdge({ source, rule, device, event, isStart, isLost = false, monoNs, errorNs }: EdgeMessage): void {
    const running = this.#running.get(source)
    if (running === undefined) return
    const { edges } = running
    const { status, onEdge } = running.source.given
    const edge = { rule, device, event, isStart, isLost, monoNs: BigInt(monoNs), errorNs: BigInt(errorNs) }
    // A correct host stays below half of the limit, in minutes of its own clock. Everything above is dropped.
    if (edges.isChange(edge) && edges.take(edge) !== undefined) onEdge?.(edge)
    else countDrop(status.stats, 'edge_limit', 1)
  }

  #takeLink(message: LinkMessage): void {
    const running = this.#running.get(message.source)
    if (running === undefined) return
    try {
      const batch = running.link.take(message)
      if (batch === undefined) return
      const asked = message.kind === 'batch' && message.window !== undefined ? message.window : undefined
      if (asked === undefined) running.source.accept(batch)
      else this.#takePiece(asked, batch)
    } catch (error) {
      if (!(error instanceof SondeError)) throw error
      this.giveUp(error)
    }
  }

  /** A piece of a window. The reader takes one piece after the other; each gives credit for more. */
  #takePiece(id: number, batch: Parameters<TakePiece>[0]): void {
    const asked = this.#asked.get(id)
    if (asked?.take === undefined) return
    const { take } = asked
    asked.taken = asked.taken.then(async () => {
      await take(batch)
      this.transport.send({ kind: 'credit', id, grantedBytes: batch.bytes.byteLength })
    })
    asked.taken.catch((error: unknown) => asked.reject(error as SondeError))
  }

  async #takeReply(reply: Reply): Promise<void> {
    const asked = this.#asked.get(reply.id)
    await asked?.taken.catch(() => undefined)
    if (reply.error === undefined) asked?.resolve(reply)
    else asked?.reject(new SondeError(reply.error.code, reply.error.message))
  }

  #takeStatus({
    source,
    state,
    reason,
    found,
    stuck,
    targets,
    calls,
    overruns,
    failed,
    failures,
    dropped,
  }: StatusMessage): void {
    const running = this.#running.get(source)?.source
    if (running === undefined) return
    const { status } = running.given
    const { stats } = status
    for (const call of calls) stats.sampled(call)
    stats.overruns += overruns
    stats.failed.count += failed
    for (const read of failures) stats.failed.take(read)
    for (const [why, records] of Object.entries(dropped)) countDrop(stats, why, records)
    status.found = found
    status.stuck = stuck
    status.targets = targets ?? status.targets
    // The last state of a replaced source stays until its successor has read.
    if (state !== 'starting') running.settle(state, reason)
  }
}
