import { wallNs } from '@sonde/sdk'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { Pcc, PccAlgorithm } from '../../native/doca/pcc.ts'
import type { DocaReader } from '../doca/place.ts'
import type { Duty, SourceContext } from '../source.ts'
import { AlgorithmRows } from './algorithm-rows.ts'
import { docaPccType } from './type.ts'

/** Time between two readings of all slots and names. Unit: milliseconds. */
const NAMES_EVERY_MS = 10_000

/** Reads the algorithms of one device in each interval. */
export class PccReader implements DocaReader {
  readonly #device: string
  readonly #pcc: Pcc
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  /** By slot. */
  readonly #rows = new Map<number, AlgorithmRows>()
  #namesMs = Number.NEGATIVE_INFINITY
  #isEmpty = false

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
    if (this.#isEmpty) this.#context.absences.gone(docaPccType, { rdma_device: this.#device }, reason)
    this.#isEmpty = false
  }

  async close(): Promise<void> {
    await this.#pcc.close()
  }

  async #read(): Promise<void> {
    if (performance.now() - this.#namesMs >= NAMES_EVERY_MS || !(await this.#isSame())) await this.#readNames()
    const time = wallNs()
    for (const [slot, rows] of this.#rows) {
      const counters =
        rows.algorithm.isEnabled && rows.algorithm.isCounting && (await this.#pcc.counters(rows.algorithm))
      if (!(counters instanceof DocaFailure)) rows.report(time, counters || undefined)
      else if (counters.name !== 'BAD_STATE') throw counters.error
      // The algorithm was stopped or unloaded since its state was read.
      else this.#forget(slot)
    }
  }

  #forget(slot: number): void {
    this.#rows.get(slot)?.gone('the algorithm was stopped')
    this.#rows.delete(slot)
    this.#namesMs = Number.NEGATIVE_INFINITY
  }

  async #isSame(): Promise<boolean> {
    for (const { algorithm } of this.#rows.values()) {
      const isSame = await this.#pcc.isSame(algorithm)
      if (isSame instanceof DocaFailure) throw isSame.error
      if (!isSame) return false
    }
    return true
  }

  async #readNames(): Promise<void> {
    const algorithms = await this.#pcc.algorithms()
    if (algorithms instanceof DocaFailure) throw algorithms.error
    this.#namesMs = performance.now()
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
    this.#reportEmpty(algorithms)
  }

  #reportEmpty(algorithms: readonly PccAlgorithm[]): void {
    const isEmpty = algorithms.length === 0
    if (isEmpty === this.#isEmpty) return
    this.#isEmpty = isEmpty
    const labels = { rdma_device: this.#device }
    const reason = 'no slot of the device has an algorithm; a program loads it with DOCA PCC'
    if (isEmpty) this.#context.absences.set(docaPccType, labels, '', 'unsupported', reason)
    else this.#context.absences.clear(docaPccType, labels, '')
  }
}
