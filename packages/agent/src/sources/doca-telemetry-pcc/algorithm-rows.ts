import type { RecordType } from '@sonde/sdk'
import type { PccAlgorithm } from '../../native/doca/pcc.ts'
import type { SourceContext } from '../source.ts'
import { WideCounter } from '../wide-counter.ts'
import { counterLabels, isGauge } from './counter-names.ts'
import { docaPccCounterType, docaPccType, docaPccValueType } from './type.ts'

/** Highest rate of a counter: an event for each packet of 64 bytes, at 800 Gbit/s. */
const EVENTS_PER_S = 1.6e9

interface CounterRow {
  readonly counter: string
  /** Undefined for a value that falls as well as rises. */
  readonly wide: WideCounter | undefined
}

/** The records of one algorithm: of itself, and of each of its counters. */
export class AlgorithmRows {
  algorithm: PccAlgorithm
  readonly #labels: { readonly rdma_device: string; readonly slot: number }
  readonly #context: SourceContext
  readonly #counters: readonly CounterRow[]
  #isAbsent = false
  /** The latest values of the counters. */
  #last = new Uint32Array()

  constructor(device: string, algorithm: PccAlgorithm, context: SourceContext) {
    this.algorithm = algorithm
    this.#labels = { rdma_device: device, slot: algorithm.slot }
    this.#context = context
    this.#counters = counterLabels(algorithm.counters).map((counter) => ({
      counter,
      wide: isGauge(counter) ? undefined : new WideCounter(),
    }))
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
   * Returns whether these can be the next values of its counters: as many as it has names, and none lower. A lower
   * count is that of another algorithm, or has passed 32 bits.
   */
  fits(counters: Uint32Array | undefined): boolean {
    if (counters === undefined) return true
    if (counters.length !== this.#counters.length) return false
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
    this.#setAbsent(counters === undefined)
    if (counters === undefined) return
    this.#last = counters.slice()
    const nowMs = performance.now()
    for (const [at, { counter, wide }] of this.#counters.entries()) {
      const labels = { time, ...this.#labels, counter }
      const value = counters[at]
      // The library wrote fewer values than the algorithm has names.
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
    return [docaPccType, ...this.#series().map(({ type }) => type)]
  }

  gone(reason: string): void {
    const { absences } = this.#context
    for (const { type, labels } of this.#series()) absences.gone(type, labels, reason)
    absences.gone(docaPccType, { ...this.#labels, slot: String(this.#labels.slot) }, reason)
  }

  #setAbsent(isAbsent: boolean): void {
    if (isAbsent === this.#isAbsent) return
    this.#isAbsent = isAbsent
    const { absences } = this.#context
    const reason = this.algorithm.isEnabled ? 'the counters of the algorithm are disabled' : 'the algorithm is disabled'
    for (const { type, labels } of this.#series())
      if (isAbsent) absences.set(type, labels, '', 'unsupported', reason)
      else absences.clear(type, labels, '')
  }

  #series() {
    const slot = String(this.#labels.slot)
    return this.#counters.map(({ counter, wide }) => ({
      type: wide === undefined ? docaPccValueType : docaPccCounterType,
      labels: { ...this.#labels, slot, counter },
    }))
  }
}
