import { SondeError } from '@sonde/sdk'

/** What the routes of apps answer at most. */
export interface AppLimits {
  /** Services that one request may ask for. Default: 100. Policy: more are refused. */
  readonly services: number
  /** Requests for series that are answered at a time. Default: 10. Policy: further ones are refused. */
  readonly concurrent: number
  /** Values in one answer: services times times times fields. Default: 250 000. Policy: more are refused. */
  readonly cells: number
}

/** Lets so many through at a time; no queue. */
export class Gate {
  readonly #limit: number
  #count = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** @throws SondeError `QRY_BUSY` where as many as may are answered already. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#limit) {
      throw new SondeError(
        'QRY_BUSY',
        `${this.#limit} requests for GPU series are being answered; ask again, or raise limits.gpu_metrics_max_concurrent`,
      )
    }
    this.#count++
    try {
      return await work()
    } finally {
      this.#count--
    }
  }
}
