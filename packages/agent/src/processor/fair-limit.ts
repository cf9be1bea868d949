import { lostMsOf, type Readings, shortageWords } from './shortage.ts'

/** Options of a {@link FairLimit}. */
export interface FairLimitOptions {
  /** Unit: milliseconds. */
  readonly limitMs: number
  /** Readings of the process that is waited for. */
  readonly read: () => Readings
  /** The limit is over. Called at most once a start. */
  readonly onOver: () => void
  /** The time is over, but not the limit: what was lacking, in words. Called at most once a start. */
  readonly onShort: (words: string) => void
}

/** How many looks the time of a limit has. */
const LOOKS = 4
/** Least distance of the last two looks, as a share of the distance of others. */
const LAST_SHARE = 0.1

/**
 * The time limit of a wait for a process of this machine. Time in which that process, or this process, waits for a
 * processor or is stopped does not count: then the machine is short of processors, and the device is not at fault.
 * Reads no counters before a quarter of the limit is over.
 */
export class FairLimit {
  readonly #options: FairLimitOptions
  #limitMs: number
  #timer: NodeJS.Timeout | undefined
  #startedMs = 0
  /** Between the look before and the next. Unit: milliseconds. */
  #stepMs = 0
  #lookedMs = 0
  #first: Readings | undefined
  #last: Readings | undefined
  #countedMs = 0
  #lateMs = 0
  #isTold = false
  #keepsAlive = false

  constructor(options: FairLimitOptions) {
    this.#options = options
    this.#limitMs = options.limitMs
    this.restart()
  }

  /** Restarts the wait, with another limit if given. */
  restart(limitMs = this.#limitMs): void {
    this.#startedMs = this.#lookedMs = performance.now()
    // A process that answers a hundred times a second must not cost a new timer each time.
    if (this.#last === undefined && limitMs === this.#limitMs && this.#timer !== undefined) {
      this.#timer.refresh()
      return
    }
    this.stop()
    this.#limitMs = limitMs
    this.#first = this.#last = undefined
    this.#countedMs = this.#lateMs = 0
    this.#isTold = false
    this.#wait(limitMs / LOOKS)
  }

  /** Keeps the process alive for as long as it waits: work that hangs may hold nothing that keeps it alive. */
  keepAlive(): this {
    this.#keepsAlive = true
    this.#timer?.ref()
    return this
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(stepMs: number): void {
    this.#stepMs = stepMs
    this.#timer = setTimeout(() => this.#look(), stepMs)
    if (!this.#keepsAlive) this.#timer.unref()
  }

  #look(): void {
    const nowMs = performance.now()
    const elapsedMs = nowMs - this.#lookedMs
    const lateMs = Math.max(0, elapsedMs - this.#stepMs)
    const after = this.#options.read()
    const before = this.#last
    this.#countedMs += elapsedMs - (before === undefined ? lateMs : lostMsOf({ before, after, lateMs }))
    this.#lateMs += lateMs
    this.#lookedMs = nowMs
    this.#last = after
    this.#first ??= after
    // Timers may come a little early.
    if (this.#countedMs >= this.#limitMs - 1) {
      this.#options.onOver()
      return
    }
    this.#tellShortage(nowMs, after)
    const everyMs = this.#limitMs / LOOKS
    this.#wait(Math.min(everyMs, Math.max(everyMs * LAST_SHARE, this.#limitMs - this.#countedMs)))
  }

  #tellShortage(nowMs: number, after: Readings): void {
    const before = this.#first
    // A little time is always lost: later looks show whether it is more.
    const isLate = nowMs - this.#startedMs > this.#limitMs * (1 + 1 / LOOKS)
    if (!isLate || this.#isTold || before === undefined || before === after) return
    this.#isTold = true
    this.#options.onShort(shortageWords({ before, after, lateMs: this.#lateMs }))
  }
}
