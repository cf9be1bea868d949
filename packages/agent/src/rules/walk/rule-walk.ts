import type { SignalRule } from '../rule.ts'
import { Column } from './column.ts'
import type { EdgeList } from './edge-list.ts'
import { fallOf, firstFall } from './falls.ts'
import { Absence } from './loops/absence.ts'
import type { RuleLoop } from './loops/loop.ts'
import { makeLoop, type WalkParts } from './make-loop.ts'
import type { RingMemory, WalkedRing, WalkSignal } from './ring-memory.ts'

/** Samples that all rules are walked over before the next: a block stays in the cache of a core. */
const BLOCK_SAMPLES = 64
/** Falls of counters that are noted until somebody takes them. */
const FALLS_MAX = 64

/** What a {@link RuleWalk} is made with. */
export interface RuleWalkOptions extends Omit<WalkParts, 'ring'> {
  readonly rules: readonly SignalRule[]
  readonly ring: RingMemory
}

/** A counter that became lower. */
export interface Fall {
  readonly signal: number
  readonly sample: number
  readonly kind: 'reset' | 'wrap'
}

/** The rules of one signal; those that counters which fall matter to are cut there. */
interface Group {
  readonly signal: number
  readonly column: Column
  readonly loops: readonly RuleLoop[]
  readonly followsFalls: boolean
}

/** Walks all rules of a ring over samples that were put into it. */
export class RuleWalk {
  /** Samples before those that are walked which must still be in the ring. */
  readonly reachSamples: number
  /** Counters that became lower and were not noted, for there were too many. */
  fallsLeftOut = 0
  readonly #ring: WalkedRing
  readonly #times: Column
  readonly #groups: readonly Group[]
  readonly #absences: readonly Absence[]
  readonly #ruleCount: number
  readonly #endsFirst: boolean
  #falls: Fall[] = []
  #isAfterGap = false

  constructor(options: RuleWalkOptions) {
    const { rules, signals, arithmetic, timeAt } = options
    this.#ring = { ...options.ring, oldest: 0 }
    this.#times = new Column(this.#ring, { at: timeAt, kind: 'u64', isCounter: false })
    const loops = rules.map((rule, index) => makeLoop(rule, index, { ...options, ring: this.#ring }))
    this.#groups = signals.flatMap((signal, index) => {
      const own = loops.filter((_, rule) => rules[rule]?.signal === index)
      return own.length === 0 ? [] : [this.#groupOf(signal, index, own, arithmetic === 'fixed')]
    })
    this.#absences = loops.filter((loop) => loop instanceof Absence)
    this.#ruleCount = rules.length
    this.#endsFirst = arithmetic === 'fixed'
    this.reachSamples = Math.max(1, ...loops.map(({ reachSamples }) => reachSamples))
  }

  /** Samples are missing before the next. */
  restart(): void {
    this.#isAfterGap = true
  }

  /**
   * Walks samples, none of them missing: the newest that were put into the ring.
   *
   * @param first Number of the first, counted from the first ever.
   * @param end Number of the first that is not there yet. At most `capacity - reachSamples` behind `first`.
   * @param edges What is found is listed there, behind what it has.
   */
  walk(first: number, end: number, edges: EdgeList): void {
    if (first >= end) return
    const { capacity } = this.#ring
    this.#ring.oldest = Math.max(0, end - capacity)
    if (this.#isAfterGap) for (const { loops } of this.#groups) for (const loop of loops) loop.gap?.(first)
    this.#isAfterGap = false
    for (let from = first; from < end; ) {
      const to = Math.min(end, from + BLOCK_SAMPLES, from - (from % capacity) + capacity)
      edges.begin(from, this.#ruleCount, this.#endsFirst)
      for (const group of this.#groups) this.#walkGroup(group, from, to, edges)
      edges.end()
      from = to
    }
  }

  /**
   * Time goes on without a sample.
   *
   * @param total Samples that were ever put into the ring.
   */
  wait(nowMonoNs: bigint, total: number, edges: EdgeList): void {
    if (total === 0 || this.#absences.length === 0) return
    const last = total - 1
    const sinceNs = Number(nowMonoNs - (BigInt(this.#times.high(last)) << 32n) - BigInt(this.#times.low(last)))
    edges.begin(last, this.#ruleCount, this.#endsFirst)
    for (const absence of this.#absences) absence.wait(last, sinceNs, edges)
    edges.end()
  }

  /** Counters that became lower since this was asked before. */
  takeFalls(): readonly Fall[] {
    const falls = this.#falls
    if (falls.length > 0) this.#falls = []
    return falls
  }

  #groupOf(signal: WalkSignal, index: number, loops: readonly RuleLoop[], isFixed: boolean): Group {
    const followsFalls = isFixed && signal.isCounter && loops.some(({ reset }) => reset !== undefined)
    return { signal: index, column: new Column(this.#ring, signal), loops, followsFalls }
  }

  #walkGroup({ signal, column, loops, followsFalls }: Group, first: number, end: number, edges: EdgeList): void {
    let from = first
    while (followsFalls && from < end) {
      const at = firstFall(column, Math.max(1, from), end)
      if (at >= end) break
      for (const loop of loops) loop.walk(from, at, edges)
      this.#fall({ signal, sample: at, kind: fallOf(column, at, at - 1) ?? 'reset' }, loops)
      // The sample that fell is walked by itself, or it would be found again.
      for (const loop of loops) loop.walk(at, at + 1, edges)
      from = at + 1
    }
    for (const loop of loops) loop.walk(from, end, edges)
  }

  #fall(fall: Fall, loops: readonly RuleLoop[]): void {
    for (const loop of loops) loop[fall.kind]?.(fall.sample)
    if (this.#falls.length < FALLS_MAX) this.#falls.push(fall)
    else this.fallsLeftOut++
  }
}
