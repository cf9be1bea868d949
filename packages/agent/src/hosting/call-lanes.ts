import { FairLimit } from '../processor/fair-limit.ts'
import { ownReadings } from '../processor/readings.ts'

/** A call that waits for its lane, or is open. */
export interface LaneCall {
  /** Calls of one lane are made one after another. */
  readonly lane: string
  /** Longest that it may take. Unit: milliseconds. */
  readonly limitMs: number
  run(): void | Promise<void>
  /** It came back, after so long; with what it threw. Called once. */
  done(durationMs: number, error?: unknown): void
  /** The call no longer blocks others. Called at most once. */
  overdue(): void
  /**
   * The call is late because of a shortage of processors, in words. Called at most once; `stuck` and `done` may follow.
   */
  starved(reason: string): void
  /** It is over its limit. Called at most once; `done` may follow. */
  stuck(): void
}

/** Options of {@link CallLanes}. */
export interface LaneRules {
  /** Lanes that may have a call open at once. */
  readonly parallel: number
  /** For how long an open call keeps others from starting. Unit: milliseconds. */
  readonly patienceMs: number
  /** Share of the time that calls take at most. */
  readonly loadShare: number
  /** Calls that may be open in any case: each keeps a thread. */
  readonly openLimit: number
}

/** A shorter call needs no rest. Unit: milliseconds. */
const QUICK_MS = 2

/**
 * The calls of a library: one at a time in a lane, and in several lanes in parallel if the library allows it. A call
 * over its limit no longer blocks other lanes, but keeps its lane; a call that never returns keeps its lane for ever.
 */
export class CallLanes {
  /** Calls that are open. */
  openCount = 0
  /** Calls that are over their limit. */
  stuckCount = 0
  readonly #rules: LaneRules
  readonly #busy = new Set<string>()
  /** Lanes whose call is over its limit. */
  readonly #hanging = new Set<string>()
  /** Bounded by whoever asks: each duty waits at most once. */
  #waiting: LaneCall[] = []
  /** Number of running calls that block others. */
  #taken = 0

  constructor(rules: LaneRules) {
    this.#rules = rules
  }

  /** Whether further calls must wait until a call over its limit returns. */
  get isBlocked(): boolean {
    return this.stuckCount >= this.#rules.openLimit
  }

  /** Whether the open call of a lane is over its limit, whichever source made it. */
  hangs(lane: string): boolean {
    return this.#hanging.has(lane)
  }

  /**
   * Makes a call now, or when its lane and a place are free. It overtakes only calls whose lane is busy: calls that
   * waited for a place started when the place became free.
   */
  add(call: LaneCall): void {
    if (this.#mayStart(call)) this.#start(call)
    else this.#waiting.push(call)
  }

  /** Takes a call back that still waits; whether it did. */
  remove(call: LaneCall): boolean {
    const at = this.#waiting.indexOf(call)
    if (at >= 0) this.#waiting.splice(at, 1)
    return at >= 0
  }

  #mayStart({ lane }: LaneCall): boolean {
    const { parallel, openLimit } = this.#rules
    return this.#taken < parallel && this.openCount < openLimit && !this.#busy.has(lane)
  }

  #next(): void {
    for (let at = 0; at < this.#waiting.length; ) {
      const call = this.#waiting[at] as LaneCall
      if (this.#taken >= this.#rules.parallel) return
      if (this.#mayStart(call)) {
        this.#waiting.splice(at, 1)
        this.#start(call)
      } else at++
    }
  }

  #start(call: LaneCall): void {
    const startMs = performance.now()
    let work: void | Promise<void>
    try {
      work = call.run()
    } catch (error) {
      call.done(performance.now() - startMs, error)
      return
    }
    if (work === undefined) call.done(performance.now() - startMs)
    else this.#follow(call, work, startMs)
  }

  /** A call that did not come back at once: its lane is busy until it does. */
  #follow(call: LaneCall, work: Promise<void>, startMs: number): void {
    const { patienceMs, loadShare } = this.#rules
    let [keepsPlace, isStuck] = [true, false]
    this.#busy.add(call.lane)
    this.openCount++
    this.#taken++
    const release = () => {
      if (!keepsPlace) return
      keepsPlace = false
      this.#taken--
    }
    const beStuck = () => {
      isStuck = true
      this.stuckCount++
      this.#hanging.add(call.lane)
      call.stuck()
    }
    const leave = () => {
      release()
      call.overdue()
      const limitMs = Math.max(0, call.limitMs - patienceMs)
      const onShort = (reason: string) => call.starved(reason)
      limit = new FairLimit({ limitMs, read: ownReadings, onOver: beStuck, onShort })
      this.#next()
    }
    let limit: FairLimit | undefined
    const timer = setTimeout(leave, Math.min(patienceMs, call.limitMs)).unref()
    const end = (error?: unknown) => {
      clearTimeout(timer)
      limit?.stop()
      this.#busy.delete(call.lane)
      this.#hanging.delete(call.lane)
      this.openCount--
      if (isStuck) this.stuckCount--
      const tookMs = performance.now() - startMs
      const restMs = keepsPlace && tookMs > QUICK_MS ? tookMs * (1 / loadShare - 1) : 0
      call.done(tookMs, error)
      if (restMs === 0) release()
      else setTimeout(() => this.#rested(release), restMs).unref()
      this.#next()
    }
    work.then(() => end(), end)
  }

  #rested(release: () => void): void {
    release()
    this.#next()
  }
}
