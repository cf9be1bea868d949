import { type RecordType, wallNs } from '@sonde/sdk'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { Pcc } from '../../native/doca/pcc.ts'
import type { DocaReader } from '../doca/place.ts'
import type { Duty, SourceContext } from '../source.ts'
import { AlgorithmRows } from './algorithm-rows.ts'
import { docaPccTypes } from './type.ts'

/** Time between two readings of all slots and names. Unit: milliseconds. */
const NAMES_EVERY_MS = 10_000
/** Time between two readings of version and state of an algorithm that counts. Unit: milliseconds. */
const STATE_EVERY_MS = 5000
const NO_ALGORITHM = 'no slot of the device has an algorithm; a program loads it with DOCA PCC'
const NO_SUCH_COUNTER = 'no algorithm of the device has a counter of this kind'

/** Reads the algorithms of one device in each interval. */
export class PccReader implements DocaReader {
  readonly #device: string
  readonly #pcc: Pcc
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  /** By slot. */
  readonly #rows = new Map<number, AlgorithmRows>()
  #namesMs = Number.NEGATIVE_INFINITY
  #stateMs = Number.NEGATIVE_INFINITY
  /** Types without a series. */
  readonly #empty = new Set<RecordType>()

  constructor(device: string, pcc: Pcc, context: SourceContext) {
    this.#device = device
    this.#pcc = pcc
    this.#context = context
    const everyUs = context.intervalMs * 1000
    this.#duties = [{ device, name: 'read', everyUs, paces: 'report', run: () => this.#read() }]
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    for (const rows of this.#rows.values()) rows.gone(reason)
    this.#rows.clear()
    this.#namesMs = Number.NEGATIVE_INFINITY
    for (const type of this.#empty) this.#context.absences.gone(type, { rdma_device: this.#device }, reason)
    this.#empty.clear()
  }

  async close(): Promise<void> {
    await this.#pcc.close()
  }

  async #read(): Promise<void> {
    if (performance.now() - this.#namesMs >= NAMES_EVERY_MS || !(await this.#isSame())) await this.#readNames()
    const time = wallNs()
    for (const slot of [...this.#rows.keys()]) {
      const rows = this.#rows.get(slot)
      if (rows === undefined) continue
      const counters = await this.#countersOf(rows)
      if (counters !== 'stopped' && rows.fits(counters)) rows.report(time, counters)
      else await this.#readAgain(slot, time)
    }
  }

  /** The counters may be those of another algorithm, so the names are read again before anything is reported. */
  async #readAgain(slot: number, time: bigint): Promise<void> {
    await this.#readNames()
    const rows = this.#rows.get(slot)
    if (rows === undefined) return
    const counters = await this.#countersOf(rows)
    if (counters !== 'stopped') rows.report(time, counters)
    else this.#forget(slot)
  }

  /** @returns Undefined if the algorithm or its counters are disabled; `stopped` if they were enabled until now. */
  async #countersOf({ algorithm }: AlgorithmRows): Promise<Uint32Array | undefined | 'stopped'> {
    if (!algorithm.isEnabled || !algorithm.isCounting) return undefined
    const counters = await this.#pcc.counters(algorithm)
    if (!(counters instanceof DocaFailure)) return counters
    if (counters.name === 'BAD_STATE') return 'stopped'
    throw counters.error
  }

  #forget(slot: number): void {
    this.#rows.get(slot)?.gone('the algorithm was stopped')
    this.#rows.delete(slot)
    this.#namesMs = Number.NEGATIVE_INFINITY
  }

  /**
   * Each call reaches the device, so an algorithm that counts is asked only for its id in most intervals. A change of
   * the rest mostly shows in the counters: see {@link AlgorithmRows.fits}.
   */
  async #isSame(): Promise<boolean> {
    const isDue = performance.now() - this.#stateMs >= STATE_EVERY_MS
    for (const { algorithm } of this.#rows.values()) {
      const isCounting = algorithm.isEnabled && algorithm.isCounting
      const isSame = isCounting && !isDue ? await this.#pcc.hasId(algorithm) : await this.#pcc.isSame(algorithm)
      if (isSame instanceof DocaFailure) throw isSame.error
      if (!isSame) return false
    }
    if (isDue) this.#stateMs = performance.now()
    return true
  }

  async #readNames(): Promise<void> {
    const algorithms = await this.#pcc.algorithms()
    if (algorithms instanceof DocaFailure) throw algorithms.error
    this.#namesMs = performance.now()
    this.#stateMs = this.#namesMs
    const bySlot = new Map(algorithms.map((algorithm) => [algorithm.slot, algorithm]))
    for (const [slot, rows] of this.#rows) {
      const found = bySlot.get(slot)
      if (found !== undefined && rows.follow(found)) continue
      rows.gone(
        found === undefined ? 'the algorithm was unloaded' : 'the slot has another algorithm, or other counters',
      )
      this.#rows.delete(slot)
    }
    for (const [slot, algorithm] of bySlot)
      if (!this.#rows.has(slot)) this.#rows.set(slot, new AlgorithmRows(this.#device, algorithm, this.#context))
    this.#reportEmpty()
  }

  /** Reports the types that no algorithm has a series of, such as values of algorithms that only count. */
  #reportEmpty(): void {
    const { absences } = this.#context
    const labels = { rdma_device: this.#device }
    const found = new Set([...this.#rows.values()].flatMap((rows) => rows.types()))
    for (const type of docaPccTypes) {
      if (found.has(type)) {
        if (this.#empty.delete(type)) absences.clear(type, labels, '')
        continue
      }
      this.#empty.add(type)
      absences.set(type, labels, '', 'unsupported', found.size === 0 ? NO_ALGORITHM : NO_SUCH_COUNTER)
    }
  }
}
