import { constants } from 'node:os'

const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A terminal and npm may forward the same signal. A later signal counts as a second one, and ends the process. */
const SECOND_SIGNAL_MS = 1000

/** Turns signals into a request to stop; its reason is the name of the signal. */
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

  /** 128 plus the number of the received signal; 0 if there was none. */
  get exitCode(): number {
    const { aborted, reason } = this.stop
    return aborted ? 128 + constants.signals[reason as NodeJS.Signals] : 0
  }

  /** Restores the default action of the signals. */
  release(): void {
    for (const signal of ENDS) process.off(signal, this.#take)
  }
}
