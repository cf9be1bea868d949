import { SondeError } from '../../errors.ts'
import type { Integer64 } from '../../schema/field.ts'
import { type CounterHandle, F64Handle, type GaugeHandle, U64Handle } from '../../source/handles.ts'
import type { HistogramHandle } from '../../source/histogram.ts'
import type { Row } from '../../source/table.ts'

/** Adds to a counter. */
export type AddHandle = Pick<CounterHandle, 'add'>

/** Sets the total of a count that a device, a library or the kernel keeps. */
export interface TotalHandle {
  /**
   * Sets the total. Before the first call the metric is absent. A total below the previous total is a restart of the
   * count, which rates recognise.
   *
   * @throws SondeError `SRC_VALUE` if the kind cannot hold it; the old total stays.
   */
  set(total: Integer64): void
}

/**
 * Adds to a counter; `set` throws, for programs in JavaScript. `add` writes directly to memory.
 */
class U64Adder extends U64Handle {
  override set(): never {
    throw notSet()
  }
}

/** See {@link U64Adder}. */
class F64Adder extends F64Handle {
  override set(): never {
    throw notSet()
  }
}

/** The handle of a counter with `add`. */
export function adderOf(row: Row, name: string): AddHandle {
  const slot = row.counterSlot(name)
  return slot.field.kind === 'f64' ? new F64Adder(row, slot) : new U64Adder(row, slot)
}

function notSet(): SondeError {
  return new SondeError('MTR_HANDLE', 'a counter is added to and not set; declare it with metrics.total to set it')
}

/** The handle of a series over the limit: it counts all updates as dropped. */
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

/** Passes totals on, and reports falling totals. */
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

  /** Not in its type: for programs in JavaScript. */
  add(): never {
    throw new SondeError('MTR_HANDLE', 'a total is set and not added to; declare it with metrics.counter to add to it')
  }
}
