import { SondeError } from '@sonde/sdk'
import type { ChartLimits } from '@sonde/sdk/internal'

/** Limits of the routes of apps. */
export interface AppLimits extends ChartLimits {
  /** Requests for series that are answered at the same time. Default: 10. Policy: further requests are refused. */
  readonly concurrent: number
}

/** Admits a limited number of requests at a time; without a queue. */
export class Gate {
  readonly #limit: () => number
  #count = 0

  /** @param limit The present limit. */
  constructor(limit: () => number) {
    this.#limit = limit
  }

  /** @throws SondeError `QRY_BUSY` if the limit is reached. */
  async through<T>(work: () => Promise<T>): Promise<T> {
    const limit = this.#limit()
    if (this.#count >= limit) {
      throw new SondeError(
        'QRY_BUSY',
        `${limit} requests for GPU series are being answered; ask again, or raise limits.gpu_metrics_max_concurrent`,
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
