import type { RecordType } from '@sonde/sdk'
import type { PccAlgorithm } from '../../native/doca/pcc.ts'
import type { SourceContext } from '../source.ts'
import { WideCounter } from '../wide-counter.ts'
import { counterLabels, isGauge } from './counter-names.ts'
import { docaPccCounterType, docaPccType, docaPccValueType } from './type.ts'

/** Highest rate of a counter: an event for each packet of 64 bytes, at 800 Gbit/s. */
const EVENTS_PER_S = 1.6e9
const NOT_WRITTEN = 'the algorithm names this counter, but the device returns no value for it'

interface CounterRow {
  readonly counter: string
  /** Undefined for a value that falls as well as rises. */
  readonly wide: WideCounter | undefined
  /** Why it has no value now; undefined if it has. */
  absent: string | undefined
}

/** The records of one algorithm: of itself, and of each of its counters. */
export class AlgorithmRows {
  algorithm: PccAlgorithm
  readonly #labels: { readonly rdma_device: string; readonly slot: number }
  readonly #context: SourceContext
  readonly #counters: readonly CounterRow[]
  /** The latest values of the counters. */
  #last = new Uint32Array()
  /** How many values the device returned last; at first as many as the algorithm has names. */
  #valueCount: number

  constructor(device: string, algorithm: PccAlgorithm, context: SourceContext) {
    this.algorithm = algorithm
    this.#labels = { rdma_device: device, slot: algorithm.slot }
    this.#context = context
    this.#counters = counterLabels(algorithm.counters).map((counter) => ({
      counter,
      wide: isGauge(counter) ? undefined : new WideCounter(),
      absent: undefined,
    }))
    this.#valueCount = this.#counters.length
  }

  /** Takes over the new state of the algorithm. Returns false if it is another algorithm, or has other counters. */
  follow(found: PccAlgorithm): boolean {
    const { id, major, minor, counters } = this.algorithm
    const isSame =
      found.id === id &&
      found.major === major &&
      found.minor === minor &&
      found.counters.length === counters.length &&
      found.counters.every((name, at) => name === counters[at])
    if (isSame) this.algorithm = found
    return isSame
  }

  /**
   * Returns whether these can be the next values of its counters: as many as before, and none lower. A lower count is
   * that of another algorithm, or has passed 32 bits.
   */
  fits(counters: Uint32Array | undefined): boolean {
    if (counters === undefined) return true
    if (counters.length !== this.#valueCount) return false
    return this.#counters.every(({ wide }, at) => wide === undefined || (counters[at] ?? 0) >= (this.#last[at] ?? 0))
  }

  /** @param counters Undefined if the algorithm or its counters are disabled. */
  report(time: bigint, counters: Uint32Array | undefined): void {
    const { id, major, minor, description, isEnabled, isCounting } = this.algorithm
    const { source } = this.#context
    source.report(docaPccType, {
      time,
      ...this.#labels,
      algorithm: description,
      algorithm_id: id,
      version_major: major,
      version_minor: minor,
      enabled: isEnabled ? 1 : 0,
      counters_enabled: isCounting ? 1 : 0,
    })
    const disabled = isEnabled ? 'the counters of the algorithm are disabled' : 'the algorithm is disabled'
    for (const [at, row] of this.#counters.entries())
      this.#setAbsent(row, counters === undefined ? disabled : at < counters.length ? undefined : NOT_WRITTEN)
    if (counters === undefined) return
    this.#last = counters.slice()
    this.#valueCount = counters.length
    const nowMs = performance.now()
    for (const [at, { counter, wide }] of this.#counters.entries()) {
      const labels = { time, ...this.#labels, counter }
      const value = counters[at]
      if (value === undefined) continue
      if (wide === undefined) source.report(docaPccValueType, { ...labels, value })
      else
        source.report(docaPccCounterType, {
          ...labels,
          events_total: wide.next(value, { nowMs, eventsPerS: EVENTS_PER_S }),
        })
    }
  }

  /** Returns the types of its series. */
  types(): readonly RecordType[] {
    return [docaPccType, ...this.#counters.map(typeOf)]
  }

  gone(reason: string): void {
    const { absences } = this.#context
    for (const row of this.#counters) absences.gone(typeOf(row), this.#seriesOf(row), reason)
    absences.gone(docaPccType, { ...this.#labels, slot: String(this.#labels.slot) }, reason)
  }

  #setAbsent(row: CounterRow, reason: string | undefined): void {
    if (reason === row.absent) return
    row.absent = reason
    const { absences } = this.#context
    if (reason === undefined) absences.clear(typeOf(row), this.#seriesOf(row), '')
    else absences.set(typeOf(row), this.#seriesOf(row), '', 'unsupported', reason)
  }

  #seriesOf({ counter }: CounterRow) {
    return { ...this.#labels, slot: String(this.#labels.slot), counter }
  }
}

function typeOf({ wide }: CounterRow): RecordType {
  return wide === undefined ? docaPccValueType : docaPccCounterType
}
