import { EVENT_SLOTS, firstEventOf } from '../../hosting/edge-gate.ts'

/** Gives events their numbers: the number of their host if it is free, otherwise a number of the agent's own slot. */
export class EventNumbers {
  readonly #isTaken: (id: number) => boolean
  #last: number

  /**
   * @param nowMs The wall clock; numbers rise with it. Unit: milliseconds since the Unix epoch.
   * @param isTaken Whether an open or kept event has a number.
   */
  constructor(nowMs: number, isTaken: (id: number) => boolean) {
    this.#last = firstEventOf(0, nowMs)
    this.#isTaken = isTaken
  }

  /** A free number: the wanted number if it is free. */
  next(wanted = 0): number {
    if (wanted > 0 && !this.#isTaken(wanted)) return wanted
    do this.#last += EVENT_SLOTS
    while (this.#isTaken(this.#last))
    return this.#last
  }
}
