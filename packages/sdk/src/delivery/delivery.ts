import { processTimers, type Timers, within } from '../internal/timers.ts'
import type { Batch, PageId } from '../schema/batch.ts'
import { forgetExit, type Leaver, watchExit } from '../sink/at-exit.ts'
import { FlushError, NO_RECORDS } from '../sink/flush-error.ts'
import type { SinkStats } from '../sink/sink.ts'
import { UnreportedDrops } from '../sink/unreported-drops.ts'
import { type CheckedLimits, checkDeliveryLimits } from './config.ts'
import { DeadLetters } from './dead-letters.ts'
import type { DeliveryOptions, DeliverySink } from './delivery-sink.ts'
import { DiskQueue } from './disk-queue/disk-queue.ts'
import { Intake } from './intake.ts'
import { Ledger } from './ledger.ts'
import { LetterBox } from './letter-box.ts'
import { MemoryQueue } from './memory-queue.ts'
import type { DeliveryQueue, DurableQueue } from './queue.ts'
import { Requests } from './requests.ts'
import { Sender } from './sender.ts'

export type { DeliveryOptions, DeliverySink } from './delivery-sink.ts'

/**
 * Makes a push sink from an encoder and a transport: adds queue, batches, retries, timeouts and counts. The contract is
 * `docs/delivery.md`.
 *
 * @throws SondeError `DLV_OPTION` if a limit is out of range.
 */
export function delivery<P>(options: DeliveryOptions<P>): DeliverySink {
  return new Delivery(options)
}

/** How long a queue on disk may take to close. Unit: milliseconds. */
const KEEP_LIMIT_MS = 1000

class Delivery<P> implements DeliverySink {
  readonly name: string
  readonly #limits: CheckedLimits
  readonly #queue: DeliveryQueue
  readonly #timers: Timers
  readonly #ledger: Ledger
  readonly #letters: DeadLetters<P>
  readonly #sender: Sender<P>
  readonly #intake: Intake
  readonly #requests: Requests<P>
  readonly #closeTransport: () => void | Promise<void>
  readonly #unreported: UnreportedDrops
  readonly #leaver: Leaver
  #closing: Promise<void> | undefined

  constructor(options: DeliveryOptions<P>) {
    const { name, encode, send, close, onReject, onLoss } = options
    const limits = checkDeliveryLimits(options)
    const timers = options.timers ?? processTimers
    const queue = options.queue ?? queueOf(name, limits, timers)
    const ledger = new Ledger(name, timers, onLoss)
    const onFailure = (error: unknown) => {
      ledger.fail(error)
      if (this.#closing !== undefined) this.#intake.signalRoom()
    }
    const letters = new DeadLetters({
      onReject,
      box: boxOf(name, limits, onFailure),
      countLimit: limits.deadLettersMax,
      onFailure,
    })
    const sender = new Sender(send, limits, timers, options.random ?? Math.random, onFailure, options.waitMs)
    const onRoom = () => this.#intake.left()
    this.name = name
    this.#limits = limits
    this.#queue = queue
    this.#timers = timers
    this.#ledger = ledger
    this.#unreported = new UnreportedDrops(ledger.stats, (reason) => this.causeOf(reason))
    this.#letters = letters
    this.#sender = sender
    this.#intake = new Intake({ queue, ledger, limits, timers, onFirst: (batch) => this.#requests.enter(batch) })
    this.#requests = new Requests({ queue, ledger, letters, sender, encode, limits, timers, onRoom })
    this.#closeTransport = close ?? (() => undefined)
    this.stats.in = queue.records
    this.#leaver = {
      // A queue on disk is written without waiting; what a queue in memory has is lost.
      ...{ records: 0, acknowledged: () => Promise.resolve() },
      finish: () => queue.durable?.finishNow(),
      pendingRecords: () => (queue.durable === undefined ? queue.records : 0),
    }
    watchExit(this.#leaver)
    if (queue.durable !== undefined) this.#attach(queue.durable)
    this.#requests.pump()
  }

  get stats(): SinkStats {
    return this.#ledger.stats
  }

  get durable(): boolean {
    return this.#queue.durable !== undefined
  }

  get failing(): string {
    return this.#ledger.failing || this.#queue.durable?.hanging || this.#letters.hanging
  }

  get queuedRecords(): number {
    return this.#queue.records
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

  get queuedBytesMax(): number {
    return this.#limits.queueLimitBytes
  }

  get lagS(): number | undefined {
    return this.#queue.records === 0 ? 0 : this.#requests.lagS
  }

  get lettersOverflowed(): number {
    return this.#letters.overflowed
  }

  accept(batch: Batch): void {
    this.#admit(batch, { mayRefuse: false })
  }

  offer(batch: Batch): boolean {
    return this.#admit(batch, { mayRefuse: this.#limits.queuePolicy === 'block' })
  }

  whenRoom(): Promise<void> {
    return this.#closing !== undefined || this.#queue.records === 0 ? Promise.resolve() : this.#intake.nextRoom()
  }

  ready(): Promise<void> | undefined {
    return this.#intake.ready()
  }

  lastPage?: (client: bigint) => Promise<bigint>
  skip?: (page: PageId) => void
  takeLost?: (client: bigint, upTo: bigint) => ReadonlyMap<bigint, number>
  flushClient?: (client: bigint) => Promise<void>

  causeOf(reason: string): string {
    const cause = reason === 'queue_full' ? this.#intake.causeOfFull : ''
    return cause === '' ? this.#ledger.words(reason) : cause
  }

  async flush(): Promise<void> {
    const { reported } = this.#unreported
    await this.#requests.hasten(this.#intake.acknowledged)
    const { lost, words } = this.#unreported.report(reported)
    if (words === '') return
    const message = `${this.name} ${words}; docs/delivery.md says what to do`
    throw new FlushError('DLV_LOST', message, { ...NO_RECORDS, lost })
  }

  close(limitMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#intake.close()
    this.#closing ??= this.#shutDown(Math.min(limitMs, this.#limits.closeTimeoutMs))
    return this.#closing
  }

  #admit(batch: Batch, options: Parameters<Intake['admit']>[1]): boolean {
    const startMs = this.#timers.nowMs()
    const isAdmitted = this.#intake.admit(batch, options)
    if (isAdmitted) this.#requests.pump()
    this.stats.seconds += (this.#timers.nowMs() - startMs) / 1000
    return isAdmitted
  }

  #attach(durable: DurableQueue): void {
    durable.attach({
      found: (records) => {
        this.stats.in += records
        this.#requests.pump()
      },
      expired: (records) => {
        this.#ledger.drop('queue_expired', records)
        this.#intake.left()
      },
      failed: (error) => this.#ledger.fail(error),
    })
    this.lastPage = (client) => durable.lastPage(client)
    this.skip = (page) => durable.skip(page)
    this.takeLost = (client, upTo) => this.#intake.losses.take(client, upTo)
    this.flushClient = async () => void (await this.#intake.acknowledged)
  }

  async #shutDown(limitMs: number): Promise<void> {
    const deadlineMs = this.#timers.nowMs() + limitMs
    const untilDeadline = (promise: Promise<unknown>) =>
      within(this.#timers, deadlineMs - this.#timers.nowMs(), promise)
    const sent = this.#requests.hasten(Promise.all([this.#intake.acknowledged, this.#drained()]))
    this.#sender.hurry()
    await untilDeadline(sent)
    await untilDeadline(this.#requests.stop())
    if (!this.durable) this.#ledger.drop('closed', this.#queue.evict(Number.POSITIVE_INFINITY))
    this.#intake.signalRoom()
    const released = untilDeadline(Promise.all([this.#letters.close(), this.#releaseTransport()]))
    // What waits for a far end must not cost what a disk needs to keep it.
    const keepMs = this.durable ? KEEP_LIMIT_MS : deadlineMs - this.#timers.nowMs()
    await Promise.all([released, within(this.#timers, keepMs, this.#queue.close())])
    this.#queue.durable?.giveUp()
    await this.#intake.acknowledged
    this.#ledger.close()
    forgetExit(this.#leaver)
  }

  /** A queue on disk can be sent later: it is sent now as long as all goes well. */
  async #drained(): Promise<void> {
    const { errors } = this.stats
    while (this.durable && this.#queue.records > 0 && this.stats.errors === errors) await this.#intake.nextRoom()
  }

  async #releaseTransport(): Promise<void> {
    try {
      await this.#closeTransport()
    } catch (error) {
      this.#ledger.fail(error)
    }
  }
}

function queueOf(name: string, limits: CheckedLimits, timers: Timers): DeliveryQueue {
  const { queueDir, queueLimitBytes, queueAgeMaxS } = limits
  if (queueDir === undefined) return new MemoryQueue()
  const nowMs = () => timers.nowMs()
  return new DiskQueue({ folder: queueDir, name, limitBytes: queueLimitBytes, ageMaxS: queueAgeMaxS, nowMs })
}

function boxOf(
  name: string,
  { deadLetters, deadLettersLimitBytes }: CheckedLimits,
  onFailure: (error: unknown) => void,
): LetterBox | undefined {
  if (deadLetters === undefined) return undefined
  return new LetterBox({ name, folder: deadLetters, limitBytes: deadLettersLimitBytes, onFailure })
}
