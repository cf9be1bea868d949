import type { Integer64 } from '@sonde/sdk'

const WRAP = 2 ** 32
const HALF = 2 ** 31

/**
 * Widens a counter that its device keeps in 32 bits. A value below the last one is a wrap where the last was in the upper half, else a restart, which is passed on as one. A
 * value of more than 32 bits says that the driver does this itself; it is passed on as it is.
 */
export class WideCounter {
  #last: Integer64 = 0
  /** What the wraps so far add up to. */
  #wrapped = 0

  /** The counter as if it were wide, after a reading of it. */
  next(value: Integer64): Integer64 {
    const last = this.#last
    this.#last = value
    if (value >= WRAP) this.#wrapped = 0
    else if (value < last) this.#wrapped = last > HALF && last < WRAP ? this.#wrapped + WRAP : 0
    return this.#wrapped === 0 ? value : Number(value) + this.#wrapped
  }

  /** Forgets the past: the device behind the counter is another one by now. */
  restart(): void {
    this.#last = 0
    this.#wrapped = 0
  }
}
