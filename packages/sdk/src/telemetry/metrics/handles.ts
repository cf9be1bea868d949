import type { Integer64 } from '../../schema/field.ts'
import type { CounterHandle, GaugeHandle } from '../../source/handles.ts'
import type { HistogramHandle } from '../../source/histogram.ts'

/** Adds to a counter. */
export type AddHandle = Pick<CounterHandle, 'add'>

/** Gives the total of something that is counted elsewhere: by a device, a library, the kernel. */
export interface TotalHandle {
  /**
   * Sets the total. Nothing is shown before the first one. A lower total than the one before is passed on, because what counts was restarted; rates see that.
   *
   * @throws SondeError `SRC_VALUE` where the kind cannot hold it; the old total stays.
   */
  set(total: Integer64): void
}

/** What is given out in place of a series that has no room: it counts what is written to it as dropped. */
export class DroppingHandle implements AddHandle, GaugeHandle, HistogramHandle {
  readonly #dropped: () => void

  constructor(dropped: () => void) {
    this.#dropped = dropped
  }

  add(): void {
    this.#dropped()
  }

  set(): void {
    this.#dropped()
  }

  observe(): void {
    this.#dropped()
  }
}

/** Passes totals on, and tells of those that fell. */
export class WatchedTotal implements TotalHandle {
  readonly #handle: GaugeHandle
  readonly #fell: () => void
  #last: Integer64 = 0

  constructor(handle: GaugeHandle, fell: () => void) {
    this.#handle = handle
    this.#fell = fell
  }

  set(total: Integer64): void {
    this.#handle.set(total)
    if (total < this.#last) this.#fell()
    this.#last = total
  }
}
