import type { Timers } from '../src/internal/index.ts'

interface Due {
  readonly atMs: number
  readonly run: () => void
}

/** Time that passes only when a test says so. */
export class SimulatedTimers implements Timers {
  #nowMs = 0
  /** In the order in which they were set; a stable search for the earliest keeps that order. */
  readonly #due = new Set<Due>()

  /** Timers that are set. */
  get count(): number {
    return this.#due.size
  }

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, run: () => void): () => void {
    const due = { atMs: this.#nowMs + Math.max(0, delayMs), run }
    this.#due.add(due)
    return () => this.#due.delete(due)
  }

  /** Lets time pass, running what falls due in order, each with all promises settled before it. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (let next = this.#earliest(); next !== undefined && next.atMs <= untilMs; next = this.#earliest()) {
      this.#due.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
      await settle()
    }
    this.#nowMs = untilMs
  }

  #earliest(): Due | undefined {
    let earliest: Due | undefined
    for (const due of this.#due) if (earliest === undefined || due.atMs < earliest.atMs) earliest = due
    return earliest
  }
}

/** Runs every promise callback that can run without time passing. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
