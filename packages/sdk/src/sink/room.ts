import { processTimers, type Timers } from '../internal/timers.ts'

/** How long a producer waits while nothing leaves the queue. Unit: milliseconds. */
const STALL_MS = 3000

/** The limits of a {@link Room}. */
export interface RoomOptions {
  /** What the queue holds at most. Unit: bytes. */
  readonly limitBytes: number
  /** How long a producer waits while nothing leaves the queue. Unit: milliseconds. Default: 3000. */
  readonly stallMs?: number
  /** Default: the timers of the process. */
  readonly timers?: Timers
}

/**
 * Where producers wait for a bounded queue. More than half of its limit makes them wait, until a quarter is left. Where
 * nothing leaves the queue for `stallMs` nobody waits any more, before something leaves it: telemetry must not stop its
 * application.
 */
export class Room {
  readonly #limitBytes: number
  readonly #stallMs: number
  readonly #timers: Timers
  #waiting: PromiseWithResolvers<void> | undefined
  #cancel: (() => void) | undefined
  /** Whether something left the queue since the watch began. */
  #hasMoved = false
  #isStalled = false
  /**
   * What the queue held when this turn of the event loop brought its first bytes; undefined in a turn that brought
   * none.
   */
  #atTurnBytes: number | undefined

  constructor({ limitBytes, stallMs = STALL_MS, timers = processTimers }: RoomOptions) {
    this.#limitBytes = limitBytes
    this.#stallMs = stallMs
    this.#timers = timers
  }

  /**
   * Whether more than half of the limit came within this turn of the event loop: nothing of that could leave, however
   * fast the other side is.
   */
  get isLoopBlocked(): boolean {
    return this.#atTurnBytes !== undefined && this.#atTurnBytes * 2 <= this.#limitBytes
  }

  /** A producer brings something to a queue that holds so much. */
  entering(queuedBytes: number): void {
    if (this.#atTurnBytes !== undefined) return
    this.#atTurnBytes = queuedBytes
    setImmediate(() => {
      this.#atTurnBytes = undefined
    }).unref()
  }

  /** Something arrived, and the queue holds so much now. */
  left(queuedBytes: number): void {
    this.#isStalled = false
    this.#hasMoved = true
    if (queuedBytes * 4 <= this.#limitBytes) this.open()
  }

  /** Resolves when there is room; undefined if there is. */
  wait(queuedBytes: number): Promise<void> | undefined {
    if (queuedBytes * 2 <= this.#limitBytes || this.#isStalled) return undefined
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers()
      this.#watch()
    }
    return this.#waiting.promise
  }

  /** Whoever waits goes on: there is room, or the sink closes. */
  open(): void {
    this.#cancel?.()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  #watch(): void {
    this.#hasMoved = false
    // What came while the loop was busy is read after the timers of a turn, and before what follows.
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
 * The cause where records were dropped while {@link Room.isLoopBlocked}: a part of a sentence. `option` is what limits
 * the queue.
 */
export function causeOfBlockedLoop(option: string): string {
  return `the program reported more than half of ${option} without letting the event loop turn, so nothing could leave; await source.ready() between reports`
}
