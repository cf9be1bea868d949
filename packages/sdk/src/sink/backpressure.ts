import { processTimers, type Timers } from '../internal/timers.ts'

/** How long a producer waits while nothing leaves the queue. Unit: milliseconds. */
const STALL_MS = 3000

/** Options of {@link Backpressure}. */
export interface BackpressureOptions {
  /** Limit of the queue. Unit: bytes. */
  readonly limitBytes: number
  /**
   * How long a producer waits while nothing leaves the queue; `Infinity` for without end. Unit: milliseconds. Default:
   * 3000.
   */
  readonly stallMs?: number
  /** Timers. Default: those of the process. */
  readonly timers?: Timers
}

/**
 * Backpressure of a bounded queue. Producers wait when the queue is more than half full, until it is down to a quarter.
 * If nothing leaves the queue for `stallMs`, producers no longer wait until something leaves it: telemetry must not
 * stop its application.
 */
export class Backpressure {
  readonly #limitBytes: number
  readonly #stallMs: number
  readonly #timers: Timers
  #waiting: PromiseWithResolvers<void> | undefined
  #cancel: (() => void) | undefined
  /** Whether something left the queue since the timer started. */
  #hasMoved = false
  #isStalled = false
  /**
   * Size of the queue before the first bytes of this turn of the event loop; undefined if this turn added none.
   */
  #atTurnBytes: number | undefined

  constructor({ limitBytes, stallMs = STALL_MS, timers = processTimers }: BackpressureOptions) {
    this.#limitBytes = limitBytes
    this.#stallMs = stallMs
    this.#timers = timers
  }

  /**
   * Whether more than half of the limit was added in this turn of the event loop: none of it could leave, however fast
   * the peer is.
   */
  get isLoopBlocked(): boolean {
    return this.#atTurnBytes !== undefined && this.#atTurnBytes * 2 <= this.#limitBytes
  }

  /** A producer adds to a queue of this size. */
  entering(queuedBytes: number): void {
    if (this.#atTurnBytes !== undefined) return
    this.#atTurnBytes = queuedBytes
    setImmediate(() => {
      this.#atTurnBytes = undefined
    }).unref()
  }

  /** Something left the queue, which now has this size. */
  left(queuedBytes: number): void {
    this.#isStalled = false
    this.#hasMoved = true
    if (queuedBytes * 4 <= this.#limitBytes) this.open()
  }

  /** Resolves when the producer may continue; undefined if it need not wait. */
  wait(queuedBytes: number): Promise<void> | undefined {
    if (queuedBytes * 2 <= this.#limitBytes || this.#isStalled) return undefined
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers()
      this.#watch()
    }
    return this.#waiting.promise
  }

  /** Releases all waiting producers: the queue has space, or the sink closes. */
  open(): void {
    this.#cancel?.()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  #watch(): void {
    // A timer of the system takes no longer delay than 2^31 ms: it would fire at once.
    if (this.#stallMs === Number.POSITIVE_INFINITY) return
    this.#hasMoved = false
    // Bytes that arrived while the loop was busy are read after the timers of a turn and before its immediates.
    const look = () => {
      this.#isStalled = !this.#hasMoved
      if (this.#isStalled) this.open()
      else this.#watch()
    }
    this.#cancel = this.#timers.after(this.#stallMs, () => {
      this.#cancel = this.#timers.after(0, look)
    })
  }
}

/**
 * The cause of drops during {@link Backpressure.isLoopBlocked}, as a part of a sentence. `option` names the limit of
 * the queue.
 */
export function causeOfBlockedLoop(option: string): string {
  return `the program reported more than half of ${option} without letting the event loop turn, so nothing could leave; await source.ready() between reports`
}
