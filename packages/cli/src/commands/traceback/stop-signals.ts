import { constants } from 'node:os'

const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A terminal and npm may each hand on the same signal; a later one is meant as a second, and ends the process. */
const SECOND_SIGNAL_MS = 1000

/** Signals as a request to stop, whose reason is the name of the signal. */
export class StopSignals {
  readonly #controller = new AbortController()
  readonly #take = (signal: NodeJS.Signals) => {
    if (this.#controller.signal.aborted) return
    this.#controller.abort(signal)
    setTimeout(() => this.release(), SECOND_SIGNAL_MS).unref()
  }

  constructor() {
    for (const signal of ENDS) process.on(signal, this.#take)
  }

  get stop(): AbortSignal {
    return this.#controller.signal
  }

  /** 128 and the number of the signal that came; 0 if none did. */
  get exitCode(): number {
    const { aborted, reason } = this.stop
    return aborted ? 128 + constants.signals[reason as NodeJS.Signals] : 0
  }

  /** From now on signals do what they do by themselves. */
  release(): void {
    for (const signal of ENDS) process.off(signal, this.#take)
  }
}
