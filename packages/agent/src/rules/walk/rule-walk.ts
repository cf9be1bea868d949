import type { SignalRule } from '../rule.ts'
import { RingColumn } from './column.ts'
import type { EdgeList } from './edge-list.ts'
import { Falls } from './falls.ts'
import { AbsenceLoop } from './loops/absence.ts'
import type { RuleLoop } from './loops/loop.ts'
import { makeLoop, type WalkParts } from './make-loop.ts'
import type { RingMemory, WalkedRing } from './ring-memory.ts'

/** Number of samples that each rule walks in turn. A block stays in the cache of a core. */
const BLOCK_SAMPLES = 512

/** Options of a {@link RuleWalk}. */
export interface RuleWalkOptions extends Omit<WalkParts, 'ring' | 'falls'> {
  readonly rules: readonly SignalRule[]
  readonly ring: RingMemory
}

/** Walks all rules of a ring over new samples. */
export class RuleWalk {
  /** History that must still be in the ring. Unit: samples. */
  readonly reachSamples: number
  /** Counters that became lower. */
  readonly falls = new Falls()
  readonly #ring: WalkedRing
  readonly #times: RingColumn
  readonly #loops: readonly RuleLoop[]
  readonly #absences: readonly AbsenceLoop[]
  readonly #endsFirst: boolean
  #isAfterGap = false

  constructor({ rules, ring, ...parts }: RuleWalkOptions) {
    this.#ring = { ...ring, oldest: 0 }
    this.#times = new RingColumn(this.#ring, { at: parts.timeAt, kind: 'u64', isCounter: false })
    const walked = { ...parts, ring: this.#ring, falls: this.falls }
    this.#loops = rules.map((rule, index) => makeLoop(rule, index, walked))
    this.#absences = this.#loops.filter((loop) => loop instanceof AbsenceLoop)
    this.#endsFirst = parts.arithmetic === 'fixed'
    this.reachSamples = Math.max(1, ...this.#loops.map(({ reachSamples }) => reachSamples))
  }

  /** Samples are missing before the next sample. */
  restart(): void {
    this.#isAfterGap = true
  }

  /**
   * Walks the newest samples of the ring, without gaps.
   * @param first Number of the first sample, counted from the first ever.
   * @param end Number after the last sample; at most `capacity - reachSamples` after `first`.
   * @param edges Edges are appended here.
   */
  walk(first: number, end: number, edges: EdgeList): void {
    if (first >= end) return
    const { capacity } = this.#ring
    this.#ring.oldest = Math.max(0, end - capacity)
    if (this.#isAfterGap) for (const loop of this.#loops) loop.gap?.(first)
    this.#isAfterGap = false
    for (let from = first; from < end; ) {
      const to = Math.min(end, from + BLOCK_SAMPLES, from - (from % capacity) + capacity)
      edges.begin(from, this.#loops.length, this.#endsFirst)
      for (const loop of this.#loops) loop.walk(from, to, edges)
      edges.end()
      from = to
    }
  }

  /**
   * Time passes without a sample.
   * @param total Number of samples that were ever put into the ring.
   */
  wait(nowMonoNs: bigint, total: number, edges: EdgeList): void {
    if (total === 0 || this.#absences.length === 0) return
    const last = total - 1
    const sinceNs = Number(nowMonoNs - (BigInt(this.#times.high(last)) << 32n) - BigInt(this.#times.low(last)))
    edges.begin(last, this.#loops.length, this.#endsFirst)
    for (const absence of this.#absences) absence.wait(last, sinceNs, edges)
    edges.end()
  }
}
