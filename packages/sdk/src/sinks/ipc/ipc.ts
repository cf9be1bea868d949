import { ENTRY_OVERHEAD_BYTES } from '../../delivery/queue.ts'
import { splitBatch } from '../../delivery/split-batch.ts'
import { messageOf, SondeError, warnOfFault } from '../../errors.ts'
import type { Batch } from '../../schema/batch.ts'
import { forgetExit, type Leaver, watchExit } from '../../sink/at-exit.ts'
import { Backpressure } from '../../sink/backpressure.ts'
import { FlushError } from '../../sink/flush-error.ts'
import type { Sink, SinkStats } from '../../sink/sink.ts'
import { recordsAre } from '../../sink/unreported-drops.ts'
import type { Untaken } from '../../wire/ipc/frame.ts'
import { type IpcConfig, type IpcOptions, ipcConfig } from './config.ts'
import { Losses } from './losses.ts'
import { Reconnect } from './reconnect.ts'
import { type Identity, NOBODY, type Obstacle, Session } from './session.ts'
import { Spool, type SpooledPage, spooledBytes } from './spool.ts'
import { Waiters } from './waiters.ts'
import { checkDirectory, explainFailure } from './whereabouts.ts'

/** The largest page for the service; longer batches are split. Unit: bytes. */
const PAGE_BYTES_MAX = 1 << 20
/** Limit of one turn of the event loop: well below a millisecond. Unit: bytes. */
const TURN_EFFORT = 1 << 20
/** How long a service may take to hang up after goodbye. Unit: milliseconds. */
const BYE_LIMIT_MS = 500

/** How long a service that never answered is missing before a warning says so. Unit: milliseconds. */
const MISSING_MS = 1000

/** How the connection to the service fares. */
export interface IpcStatus {
  /**
   * −1: not connected, as before the first report and after `close`; 0: connected; 1: disabled, where a schema has no
   * `ipc`.
   */
  readonly code: -1 | 0 | 1
  /**
   * The meaning of an acknowledgement of the service, if known: `durable` if the records survive a crash of the
   * service.
   */
  readonly ack: 'memory' | 'durable'
  /** How pages reach the service: in shared memory, or through the socket. */
  readonly mode: 'shared' | 'inline'
  /** Why not in shared memory; empty if they do. */
  readonly inlineReason: string
  /** The last error; undefined while connected, and after a `close` while connected. */
  readonly lastError: { readonly code: string; readonly message: string } | undefined
  /** Every page up to this one is acknowledged, or dropped. */
  readonly ackedSequence: number
  /** Memory of pages that are not acknowledged. Unit: bytes. */
  readonly spooledBytes: number
  /** Records dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** The part of these that the service keeps, but a view of the service, such as `/metrics`, does not show. */
  readonly hidden: Readonly<Record<string, number>>
  /** Why records were last dropped as `not_announced`; empty if none were. */
  readonly notAnnouncedReason: string
}

/** The sink that hands records to the service of the node; see {@link createIpc}. */
export interface IpcSink extends Sink {
  /** Accepted records that are neither acknowledged nor dropped. */
  readonly queuedRecords: number
  status(): IpcStatus
}

/**
 * Sends records to the telemetry service of the node, which is `sonde agent`, through shared memory or a socket.
 * Unacknowledged pages are kept in bounded memory, and sent again after a restart of the service. Never blocks; a
 * missing service is no error.
 *
 * Await `close` of the schema or of the sink before `process.exit()`: during the exit, a process cannot connect or
 * wait. Records that are unacknowledged then are reported in one line on stderr, with the code `TEL_LOST`.
 *
 * @throws SondeError `IPC_OPTION` if an option is not allowed.
 */
export function createIpc(options: IpcOptions = {}): IpcSink {
  return new Ipc(ipcConfig(options))
}

class Ipc implements IpcSink {
  readonly name: string
  readonly #config: IpcConfig
  /** The identity of this client at the service, which recognises repeated pages by it. */
  #identity: Identity = NOBODY
  /** The last acknowledged page. */
  #heard = 0
  readonly #spool: Spool
  readonly #losses: Losses
  readonly #waiters: Waiters
  readonly #reconnect: Reconnect
  readonly #backpressure: Backpressure
  #session: Session | undefined
  /** Kept from one connection to the next. */
  #ack: IpcStatus['ack'] = 'memory'
  #lastError: SondeError | undefined
  /** Sequence of the newest page that was acknowledged when the session began. */
  #firstOfSession = 0
  #pump: NodeJS.Immediate | undefined
  /** Runs from the first failure on; cleared by the first connection. */
  #missing: NodeJS.Timeout | undefined
  #wasConnected = false
  #isExiting = false
  #isLeaving = false
  readonly #leaver: Leaver
  #closing: Promise<void> | undefined

  constructor(config: IpcConfig) {
    const { name, reconnectTimeMs, reconnectTries, socketTimeoutMs, spoolBytes } = config
    this.name = name
    this.#config = config
    this.#spool = new Spool(spoolBytes)
    this.#losses = new Losses(config, (batch) => this.#keep(batch, { countedRecords: 0 }))
    this.#backpressure = new Backpressure({ limitBytes: spoolBytes, stallMs: socketTimeoutMs })
    this.#reconnect = new Reconnect({
      tries: reconnectTries,
      timeMs: reconnectTimeMs,
      connect: () => this.#connect(),
      isWanted: () => this.#spool.first < this.#spool.next,
    })
    this.#waiters = new Waiters(
      socketTimeoutMs,
      (isWaiting) => this.#reconnect.hurry(isWaiting),
      () => this.#timeout(),
    )
    const { stats } = this
    this.#leaver = {
      emit: () => this.#sendAtExit(),
      acknowledged: () => this.#inTime(this.flush()),
      pendingRecords: () => this.#spool.records,
      lost: () => {
        const { lost, words } = this.#losses.report()
        return lost > 0 ? words : ''
      },
      get records() {
        return stats.in
      },
    }
    watchExit(this.#leaver)
    this.#reconnect.report()
  }

  get stats(): SinkStats {
    return this.#losses.stats
  }

  get hidden(): ReadonlyMap<string, number> {
    return this.#losses.hidden
  }

  get queuedRecords(): number {
    return this.#spool.records
  }

  accept(batch: Batch): void {
    const startMs = performance.now()
    this.stats.in += batch.count
    if (this.#closing !== undefined) this.#losses.drop('closed', batch.count)
    else if (batch.bytes.byteLength !== batch.count * batch.type.layout.recordBytes)
      this.#losses.drop('wrong_size', batch.count)
    else this.#spoolBatch(batch)
    this.stats.seconds += (performance.now() - startMs) / 1000
  }

  ready(): Promise<void> | undefined {
    return this.#backpressure.wait(this.#spool.bytes)
  }

  causeOf(reason: string): string {
    return this.#losses.causeOf(reason)
  }

  async flush(): Promise<void> {
    const { reported } = this.#losses
    const failed = await this.#waiters.wait(this.#spool.next - 1, this.#spool.first).then(
      () => undefined,
      (error: SondeError) => error,
    )
    const { lost, hidden, words } = this.#losses.report(reported)
    const counts = { lost, hidden, pending: failed === undefined ? 0 : this.#spool.records }
    const message = [words, failed?.message ?? ''].filter((part) => part !== '').join('; ')
    if (lost > 0) throw new FlushError('IPC_LOST', message, counts, { cause: failed })
    if (failed !== undefined) throw new FlushError(failed.code, message, counts, { cause: failed.cause })
    if (hidden > 0) throw new FlushError('IPC_HIDDEN', message, counts)
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  status(): IpcStatus {
    const inlineReason = this.#session?.inlineReason ?? 'not connected'
    const error = this.#lastError
    return {
      code: this.#closing !== undefined || this.#session?.welcome === undefined ? -1 : 0,
      ack: this.#ack,
      mode: inlineReason === '' ? 'shared' : 'inline',
      inlineReason,
      // Not the error itself, of which JSON has no message.
      lastError: error === undefined ? undefined : { code: error.code, message: error.message },
      ackedSequence: this.#spool.first - 1,
      spooledBytes: this.#spool.bytes,
      dropped: Object.fromEntries(this.stats.dropped),
      hidden: Object.fromEntries(this.hidden),
      notAnnouncedReason: this.#losses.notAnnouncedReason,
    }
  }

  #spoolBatch(batch: Batch): void {
    const pieces = splitBatch(batch, {
      batchRecordsMax: Number.POSITIVE_INFINITY,
      batchBytesMax: PAGE_BYTES_MAX + ENTRY_OVERHEAD_BYTES,
    })
    const bytes = pieces.reduce((total, piece) => total + spooledBytes(piece), 0)
    if (bytes > this.#config.spoolBytes) this.#losses.drop('too_large', batch.count)
    else for (const piece of pieces) this.#keep(piece, { countedRecords: piece.count })
  }

  #keep(batch: Batch, counted: { readonly countedRecords: number }): void {
    this.#backpressure.entering(this.#spool.bytes)
    const missing = () => this.#spool.bytes + spooledBytes(batch) > this.#config.spoolBytes
    let dropped = 0
    while (missing() && this.#spool.first < this.#spool.next) dropped += this.#spool.shift()
    if (dropped > 0) {
      this.#losses.isLoopBlocked = this.#backpressure.isLoopBlocked
      this.#lose('spool_full', dropped)
    }
    this.#spool.add(batch, counted)
    if (this.#session?.welcome === undefined) this.#reconnect.report()
    else this.#wake()
  }

  /**
   * Sends in the next turn of the loop, so that many small pages go together; at the end of the process there is none.
   */
  #wake(): void {
    if (this.#isExiting) this.#session?.pump(Number.POSITIVE_INFINITY)
    else this.#pump ??= setImmediate(() => this.#send())
  }

  #send(): void {
    this.#pump = undefined
    try {
      if (this.#session?.pump(TURN_EFFORT) === true) this.#wake()
    } catch (error) {
      // A failed send must not end the application: it ends this connection, and the next connection tries again.
      this.#session?.destroy()
      this.#fail(new SondeError('IPC_CONNECTION', `${this.name} failed to send: ${messageOf(error)}`, { cause: error }))
    }
  }

  #connect(): void {
    try {
      checkDirectory(this.#config.socketsDir)
    } catch (error) {
      this.#fail(error as SondeError)
      return
    }
    const caller = { ...this.#identity, heard: BigInt(this.#heard) }
    this.#session = new Session(caller, this.#config, this.#spool, {
      onWelcome: (sequence, untaken, identity) => this.#welcome(sequence, untaken, identity),
      onForgotten: () => {
        this.#identity = NOBODY
      },
      onAck: (sequence, untaken) => this.#acknowledge(sequence, untaken),
      onObstacle: (page, reason) => this.#refuse(page, reason),
      onRoom: () => this.#wake(),
      onEnd: (error) => this.#fail(explainFailure(this.#config.socketsDir, error)),
    })
  }

  #welcome(sequence: number, untaken: Untaken, identity: Identity): void {
    this.#identity = identity
    this.#ack = this.#session?.welcome?.ack ?? this.#ack
    this.#lastError = undefined
    this.#wasConnected = true
    clearTimeout(this.#missing)
    this.#reconnect.connected()
    this.#waiters.connected()
    this.#acknowledge(sequence, untaken)
    this.#firstOfSession = this.#spool.first
    this.#wake()
  }

  #acknowledge(sequence: number, { dropped, hidden }: Untaken): void {
    this.#heard = Math.max(this.#heard, sequence)
    let records = 0
    while (this.#spool.first <= sequence && this.#spool.first < this.#spool.next) records += this.#spool.shift()
    // Of a record that is both lost and hidden only the loss counts.
    for (const [counts, isLost] of [
      [dropped, true],
      [hidden, false],
    ] as const) {
      for (const [reason, count] of Object.entries(counts)) {
        const refused = Math.min(count, records)
        records -= refused
        if (isLost) this.#losses.drop(this.#losses.known(reason), refused)
        else this.#losses.hide(this.#losses.known(reason), refused)
      }
    }
    this.#losses.arrived(records, { isAll: this.#spool.first === this.#spool.next })
    this.#waiters.progress(this.#spool.first)
    this.#backpressure.left(this.#spool.bytes)
  }

  #refuse(page: SpooledPage, reason: Obstacle): void {
    if (reason === 'not_announced') this.#losses.notAnnouncedReason = this.#session?.fault ?? ''
    this.#lose(reason, this.#spool.remove(page))
    this.#backpressure.left(this.#spool.bytes)
  }

  #lose(reason: string, records: number): void {
    this.#losses.drop(reason, records)
    this.#waiters.progress(this.#spool.first)
  }

  #fail(error: SondeError): void {
    const wasOfUse = this.#session?.welcome !== undefined && this.#spool.first > this.#firstOfSession
    this.#session = undefined
    // The service hangs up after goodbye, as it should.
    if (this.#isLeaving) return
    this.#lastError = error
    if (!this.#wasConnected) this.#missing ??= setTimeout(() => this.#warnOfMissing(), MISSING_MS).unref()
    this.#losses.fail(error)
    this.#waiters.disconnected()
    this.#reconnect.failed({ wasOfUse })
  }

  /** Nobody may ever flush: a wrong folder is reported before the spool is full. */
  #warnOfMissing(): void {
    const error = this.#lastError
    if (error === undefined) return
    const message = `${this.#losses.who} is not connected, and keeps up to ${this.#config.spoolBytes} bytes of records: ${error.message}`
    warnOfFault(new SondeError(error.code, message))
  }

  #timeout(): SondeError {
    const { socketTimeoutMs } = this.#config
    const why = this.#lastError === undefined ? '' : `: ${this.#lastError.message}`
    return new SondeError(
      'IPC_TIMEOUT',
      `${recordsAre(this.#spool.records)} not acknowledged after ${socketTimeoutMs} ms${why}`,
      { cause: this.#lastError },
    )
  }

  /**
   * Waits no longer than the limit: a service that is alive may itself wait for its disk, for as long as that is full.
   */
  async #inTime(acknowledged: Promise<void>): Promise<void> {
    const limit = setTimeout(() => this.#waiters.giveUp(), this.#config.socketTimeoutMs)
    await acknowledged.finally(() => clearTimeout(limit))
  }

  async #shutDown(): Promise<void> {
    // Later losses can no longer be reported.
    this.#losses.close()
    this.#backpressure.open()
    const acknowledged = this.#waiters.wait(this.#spool.next - 1, this.#spool.first)
    await this.#inTime(acknowledged).catch((error: unknown) => this.#losses.fail(error))
    clearImmediate(this.#pump)
    clearTimeout(this.#missing)
    this.#reconnect.close()
    forgetExit(this.#leaver)
    let left = 0
    while (this.#spool.first < this.#spool.next) left += this.#spool.shift()
    this.#lose('closed', left)
    this.#isLeaving = true
    await this.#session?.leave(BYE_LIMIT_MS)
    this.#session = undefined
  }

  /** The last chance to hand something to the socket, which takes at once what it has room for. */
  #sendAtExit(): void {
    this.#isExiting = true
    this.#session?.pump(Number.POSITIVE_INFINITY)
    // Where the loop turns once more, it was not the end.
    setImmediate(() => {
      this.#isExiting = false
    }).unref()
  }
}
