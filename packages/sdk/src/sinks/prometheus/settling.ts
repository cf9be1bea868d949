import { turn } from '../../internal/turn.ts'
import { type Batch, ownerOf, type SourceInfo } from '../../schema/batch.ts'
import { Waiting } from './waiting.ts'

/** Work in steps, which is continued until it is done. */
export type Job = Iterator<void>

/** Callbacks for waiting batches and removals. */
export interface SettlingWork {
  /**
   * Adds a batch with its time of arrival (unit: milliseconds). Returns the rest of the batch if the share of this turn
   * is used up.
   */
  take(batch: Batch, acceptedMs: number): Batch | undefined
  /** Takes a source out. */
  remove(source: SourceInfo): Job
}

interface Leaving {
  readonly order: number
  readonly job: Job
}

/** Does the next steps of a job, as many as this turn of the event loop has room for. Whether it is done. */
export function advance(job: Job): boolean {
  do if (job.next().done === true) return true
  while (!turn.isOver())
  return false
}

/**
 * Batches and removals of sources that exceed the share of their turn, in order. A waiter waits only for earlier
 * entries; otherwise sources take turns.
 */
export class Settling {
  readonly #work: SettlingWork
  readonly #waiting = new Waiting()
  readonly #leaving = new Map<object, Leaving>()
  /** Callers that wait for all entries up to a number, in order. */
  readonly #waiters: { readonly order: number; readonly done: () => void }[] = []
  #order = 0
  #isRunning = false

  constructor(work: SettlingWork) {
    this.#work = work
  }

  /**
   * Whether a batch has to wait: rows of a source that left keep their place and their series until they are taken out.
   */
  isBehind(source: SourceInfo): boolean {
    return this.#leaving.size > 0 || this.#waiting.has(source)
  }

  /** Lets a batch wait. False if there is no room for it. */
  add(batch: Batch, acceptedMs: number): boolean {
    const isAdded = this.#waiting.add({ batch, order: ++this.#order, acceptedMs })
    this.#start()
    return isAdded
  }

  /** Removes a source and its waiting batches. Returns the number of these records. */
  leave(source: SourceInfo): number {
    const records = this.#waiting.remove(source)
    const owner = ownerOf(source)
    if (this.#leaving.has(owner)) return records
    const job = this.#work.remove(source)
    if (this.#leaving.size === 0 && !turn.isOver() && advance(job)) return records
    this.#leaving.set(owner, { order: ++this.#order, job })
    this.#start()
    return records
  }

  /** Resolves once everything that waits now is done. Undefined if nothing waits. */
  settled(): Promise<void> | undefined {
    if (!this.#isRunning) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiters.push({ order: this.#order, done: resolve })
    return promise
  }

  /** Forgets everything that waits. Gives the number of its records. */
  clear(): number {
    this.#leaving.clear()
    return this.#waiting.removeAll()
  }

  #start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    await turn.next()
    while (this.#step()) while (turn.isOver()) await turn.next()
    this.#isRunning = false
  }

  /** Does one thing. Whether there was one. */
  #step(): boolean {
    const [waiter] = this.#waiters
    const [leaver] = this.#leaving
    const orderMax = Math.min(waiter?.order ?? this.#order, leaver?.[1].order ?? this.#order)
    const next = this.#waiting.next(orderMax)
    if (next !== undefined) this.#waiting.replace(next, this.#work.take(next.batch, next.acceptedMs))
    else if (leaver !== undefined && leaver[1].order <= (waiter?.order ?? this.#order)) this.#remove(...leaver)
    else if (waiter !== undefined) this.#waiters.shift()?.done()
    else return false
    return true
  }

  #remove(owner: object, { job }: Leaving): void {
    if (advance(job)) this.#leaving.delete(owner)
  }
}
