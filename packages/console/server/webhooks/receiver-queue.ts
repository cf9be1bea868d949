import type { Timers } from '@sonde/sdk/internal'
import { type Delivery, type DeliveryResult, isSuccess } from './delivery.ts'

/** Messages to one receiver at a time, so that a slow one delays no other receiver and uses few connections. */
const CONCURRENT_MAX = 4
/** Messages that wait for one receiver, those before another attempt included. Policy: later ones fail. */
const WAITING_MAX = 256
/** Pauses before the attempts after the first, as Standard Webhooks has them. Unit: milliseconds. */
const PAUSES_MS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1000)
/** Longest pause that a receiver may ask for. Unit: milliseconds. */
const PAUSE_MS_MAX = 86_400_000
/** Random part of a pause, so that messages that failed together come back apart. */
const JITTER = 0.2
/** The receiver is gone for good and asks for no more messages. */
const GONE = 410
/** Faults for which another attempt would fail again. */
const FINAL = new Set(['keys', 'address', 'url', 'stopped'])

/** Options of {@link ReceiverQueue}. */
export interface ReceiverQueueOptions {
  /** Sends a message once. Never rejects. */
  readonly attempt: (delivery: Delivery) => Promise<DeliveryResult>
  /** Called at the end of each attempt, and of a delivery without any. */
  readonly onResult: (delivery: Delivery, result: DeliveryResult) => void
  /** Attempts after the first. */
  readonly retries: number
  readonly timers: Timers
}

/** The messages of one receiver: a few are under way, some wait, and those that failed may come back. */
export class ReceiverQueue {
  succeeded = 0
  failed = 0
  readonly #options: ReceiverQueueOptions
  readonly #waiting: Delivery[] = []
  /** Those before another attempt, with a function that calls it off. */
  readonly #pausing = new Map<Delivery, () => void>()
  readonly #underWay = new Set<Delivery>()
  #isGone = false
  #isClosed = false

  constructor(options: ReceiverQueueOptions) {
    this.#options = options
  }

  /** Messages that wait or are under way. */
  get count(): number {
    return this.#underWay.size + this.#waiting.length + this.#pausing.size
  }

  /** Why the receiver gets nothing; empty if it does. */
  get fault(): string {
    return this.#isGone ? `it answered ${GONE}: it wants no more messages; a test that succeeds resumes them` : ''
  }

  add(delivery: Delivery): void {
    const full = `${WAITING_MAX} messages wait for this receiver`
    if (this.#isClosed) this.#end(delivery, { status: 0, error: 'stopped', reason: 'Sonde stops' })
    else if (this.#isGone && !delivery.isTest) this.#end(delivery, { status: 0, error: 'gone', reason: this.fault })
    else if (this.#waiting.length + this.#pausing.size >= WAITING_MAX)
      this.#end(delivery, { status: 0, error: 'queue_full', reason: full })
    else {
      this.#waiting.push(delivery)
      this.#advance()
    }
  }

  /** Starts no further attempt; those that wait fail. Resolves when no message is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const cancel of this.#pausing.values()) cancel()
    const lost = [...this.#waiting.splice(0), ...this.#pausing.keys()]
    this.#pausing.clear()
    for (const delivery of lost) this.#end(delivery, { status: 0, error: 'stopped', reason: 'Sonde stops' })
    await Promise.all([...this.#underWay].map(({ settled }) => settled))
  }

  #advance(): void {
    while (this.#underWay.size < CONCURRENT_MAX) {
      const delivery = this.#waiting.shift()
      if (delivery === undefined) return
      void this.#run(delivery)
    }
  }

  async #run(delivery: Delivery): Promise<void> {
    this.#underWay.add(delivery)
    delivery.attempts++
    delivery.nextMs = undefined
    const result = await this.#options.attempt(delivery)
    this.#underWay.delete(delivery)
    if (result.status === GONE) this.#isGone = true
    else if (isSuccess(result)) this.#isGone = false
    const pauseMs = this.#pauseMs(delivery, result)
    if (pauseMs === undefined) this.#end(delivery, result)
    else this.#pause(delivery, result, pauseMs)
    this.#advance()
  }

  /** Undefined if there is no further attempt. */
  #pauseMs({ attempts, isTest }: Delivery, { status, error, pauseMs = 0 }: DeliveryResult): number | undefined {
    if (isSuccess({ status }) || isTest || this.#isClosed || this.#isGone || FINAL.has(error ?? '')) return undefined
    const usualMs = attempts > this.#options.retries ? undefined : PAUSES_MS[attempts - 1]
    return usualMs === undefined ? undefined : Math.max(usualMs * (1 + JITTER * Math.random()), pauseMs)
  }

  #pause(delivery: Delivery, result: DeliveryResult, wantedMs: number): void {
    const pauseMs = Math.min(wantedMs, PAUSE_MS_MAX)
    delivery.note(result)
    delivery.nextMs = Date.now() + pauseMs
    this.#options.onResult(delivery, result)
    const again = () => {
      this.#pausing.delete(delivery)
      this.#waiting.push(delivery)
      this.#advance()
    }
    this.#pausing.set(delivery, this.#options.timers.after(pauseMs, again))
  }

  #end(delivery: Delivery, result: DeliveryResult): void {
    delivery.nextMs = undefined
    if (isSuccess(result)) this.succeeded++
    else this.failed++
    this.#options.onResult(delivery, result)
    delivery.end(result)
  }
}
