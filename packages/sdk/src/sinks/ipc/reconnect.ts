/** How a client without a connection goes on. */
export interface ReconnectOptions {
  readonly tries: number
  /** Total time of the attempts of a phase. Unit: milliseconds. */
  readonly timeMs: number
  /** Begins one try, which ends with a call of `failed` or `connected`. */
  readonly connect: () => void
  /** Whether there is something to send: only then it tries by itself. */
  readonly isWanted: () => boolean
}

/** Where nobody reports, a client with something to send looks for the service so often. Unit: milliseconds. */
const BACKGROUND_MS = 1000

/**
 * When a client tries to connect. A report sets off a phase of a few tries, evenly spread over a short time; the next
 * phase begins no sooner than the next try would have, so that a million reports a second do not try a million times.
 * While somebody waits, phases follow one another.
 */
export class Reconnect {
  readonly #options: ReconnectOptions
  readonly #everyMs: number
  #triesLeft = 0
  #state: 'idle' | 'waiting' | 'trying' | 'connected' | 'closed' = 'idle'
  #isHurried = false
  #restUntilMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: ReconnectOptions) {
    this.#options = options
    this.#everyMs = options.timeMs / options.tries
  }

  /** Something was reported, or somebody asks for a connection. */
  report(): void {
    if (this.#state !== 'idle' || performance.now() < this.#restUntilMs) return
    this.#triesLeft = this.#options.tries
    this.#try()
  }

  /** Whether somebody waits for a connection. */
  hurry(isHurried: boolean): void {
    this.#isHurried = isHurried
    if (isHurried && this.#state === 'idle') this.#wait(0)
  }

  connected(): void {
    this.#state = 'connected'
  }

  /** A try failed, or a connection ended. `wasOfUse`: it brought something across, so that there is reason to hope. */
  failed({ wasOfUse }: { readonly wasOfUse: boolean }): void {
    if (this.#state === 'closed') return
    if (wasOfUse) this.#triesLeft = this.#options.tries
    else this.#triesLeft--
    this.#state = 'idle'
    if (this.#isHurried || (this.#triesLeft > 0 && this.#options.isWanted())) {
      this.#wait(this.#everyMs)
      return
    }
    this.#restUntilMs = performance.now() + this.#everyMs
    this.#rest()
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
  }

  #try(): void {
    clearTimeout(this.#timer)
    this.#state = 'trying'
    this.#options.connect()
  }

  #wait(durationMs: number): void {
    clearTimeout(this.#timer)
    this.#state = 'waiting'
    this.#timer = setTimeout(() => this.#try(), durationMs).unref()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    const durationMs = Math.max(BACKGROUND_MS, this.#options.timeMs)
    this.#timer = setTimeout(() => {
      if (this.#state === 'idle' && this.#options.isWanted()) this.#try()
    }, durationMs).unref()
  }
}
