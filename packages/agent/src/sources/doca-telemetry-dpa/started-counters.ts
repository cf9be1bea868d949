import type { Dpa } from '../../native/doca/dpa.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { StartNotes } from './start-notes.ts'

/** Errors that mean that there is nothing to stop: the counter does not run, or its process has ended. */
const NOTHING_TO_STOP = new Set(['BAD_STATE', 'NOT_FOUND'])

/**
 * Starts the counters of processes, and stops those that Sonde started. A counter runs on after the end of its starter.
 * So a note on disk says which counters Sonde started, and a later Sonde stops them after a crash. Counters of other
 * programs are read, and never stopped.
 */
export class StartedCounters {
  readonly #dpa: Dpa
  readonly #notes: StartNotes
  readonly #own = new Set<number>()

  constructor(dpa: Dpa, notes: StartNotes) {
    this.#dpa = dpa
    this.#notes = notes
  }

  /** Makes sure that the counter of a process runs. @returns Why it does not. */
  async start(process: number): Promise<DocaFailure | undefined> {
    const isCounting = await this.#dpa.isCounting(process)
    if (isCounting instanceof DocaFailure) return isCounting
    const owner = this.#notes.ownerOf(process)
    if (isCounting) {
      if (owner === 'ended' || owner === 'self') this.#take(process)
      return undefined
    }
    // The note comes first: after a crash between the two steps it must not be missing.
    this.#take(process)
    const failure = await this.#dpa.startCounter(process)
    if (failure === undefined) return undefined
    this.#drop(process)
    // Another program has just started it.
    return failure.name === 'BAD_STATE' ? undefined : failure
  }

  /** The process has ended, and its counter with it. */
  forget(process: number): void {
    if (this.#own.has(process)) this.#drop(process)
  }

  /** Stops the counters that Sonde started. The note of a counter that cannot be stopped stays for the next Sonde. */
  async stopAll(): Promise<void> {
    for (const process of this.#own) {
      const failure = await this.#dpa.stopCounter(process)
      if (failure === undefined || NOTHING_TO_STOP.has(failure.name)) this.#drop(process)
      else this.#own.delete(process)
    }
  }

  #take(process: number): void {
    this.#own.add(process)
    this.#notes.write(process)
  }

  #drop(process: number): void {
    this.#own.delete(process)
    this.#notes.remove(process)
  }
}
