import { SondeError } from '@sonde/sdk'

const FAILURES = 3
const WITHIN_MS = 60_000
const OPEN_MS = 30_000

/**
 * Spares a server that fails: after three failures within a minute nothing is asked for 30 s, then one question tries.
 */
export class Breaker {
  #failures: number[] = []
  #openUntilMs = 0
  #isTrying = false

  /** @throws SondeError `BKD_OPEN` while nothing is asked. */
  async through<T>(nowMs: number, work: () => Promise<T>): Promise<T> {
    const isProbe = this.#openUntilMs > 0
    if (isProbe && (nowMs < this.#openUntilMs || this.#isTrying)) {
      const leftS = Math.max(1, Math.ceil((this.#openUntilMs - nowMs) / 1000))
      throw new SondeError(
        'BKD_OPEN',
        `the Prometheus failed ${FAILURES} times within a minute; it is asked again in ${leftS} s`,
      )
    }
    this.#isTrying = isProbe
    try {
      const result = await work()
      this.#failures = []
      this.#openUntilMs = 0
      return result
    } catch (error) {
      if (isFailure(error)) this.#fail(nowMs, isProbe)
      throw error
    } finally {
      if (isProbe) this.#isTrying = false
    }
  }

  #fail(nowMs: number, isProbe: boolean): void {
    this.#failures = [...this.#failures.filter((atMs) => nowMs - atMs < WITHIN_MS), nowMs]
    if (isProbe || this.#failures.length >= FAILURES) this.#openUntilMs = nowMs + OPEN_MS
  }
}

/** What the server refuses is the asker's mistake, not a failure of the server. */
function isFailure(error: unknown): boolean {
  return error instanceof SondeError && (error.code === 'BKD_UNREACHABLE' || error.code === 'BKD_ANSWER')
}
