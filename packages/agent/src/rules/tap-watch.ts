import type { RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import type { Tap } from '../sampling/tap.ts'
import { type PlacedRules, placeRules } from './place-rules.ts'
import type { SignalRule } from './rule.ts'
import { EdgeList } from './walk/edge-list.ts'
import type { RingMemory } from './walk/ring-memory.ts'
import { RuleWalk } from './walk/rule-walk.ts'
import type { Watch } from './watch.ts'

/** Samples that are walked before their edges are reported. */
const PIECE_SAMPLES = 1024
/** The field that numbers the samples of a type, if it has such a field. */
const NUMBER_FIELD = 'sample'

/** The start or the end of a rule on a ring. */
export interface TapEdge {
  readonly rule: string
  /** By the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  /** Number of the sample, counted from the first sample of the ring. */
  readonly sample: number
  readonly isStart: boolean
  /** Whether the end was not observed because samples stopped. */
  readonly isLost: boolean
}

/** Rules that watch the ring of one device. */
export class TapWatch {
  /** History that must stay in the ring when samples are added. Unit: samples. */
  readonly reachSamples: number
  readonly #tap: Tap
  readonly #ring: RingMemory
  readonly #placed: PlacedRules
  #walk: RuleWalk
  readonly #edges = new EdgeList()
  readonly #onEdge: (edge: TapEdge) => void
  readonly #numberWord: number | undefined
  #number = -1
  #isLost = false

  /**
   * Rules on fields of a ring; undefined if there are none. The ring refuses rules that look back further than its
   * capacity.
   */
  static of(tap: Tap, device: string, watch: Watch, onEdge: (edge: TapEdge) => void): TapWatch | undefined {
    const placed = placeRules(watch, tap.type, device)
    return placed.rules.length === 0 ? undefined : new TapWatch(tap, placed, onEdge)
  }

  constructor(tap: Tap, placed: PlacedRules, onEdge: (edge: TapEdge) => void) {
    const { type, ring } = tap
    this.#tap = tap
    this.#ring = ring
    this.#placed = placed
    this.#onEdge = onEdge
    this.#walk = this.#newWalk()
    this.reachSamples = this.#walk.reachSamples
    this.#numberWord = numberWordOf(type)
  }

  /** Names of the rules. */
  get rules(): readonly string[] {
    return this.#placed.rules.map(({ name }) => name)
  }

  /** Samples stopped: active rules end, except for rules that wait for absence. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#endAll(process.hrtime.bigint(), (kind) => kind !== 'absent')
  }

  /** Samples were put into the ring. The ring still has the history that rules need. */
  take(first: number, end: number): void {
    if (this.#isLost) this.#beginAnew(first)
    for (let from = first; from < end; ) {
      const to = this.#nextGap(from, Math.min(end, from + PIECE_SAMPLES))
      this.#walk.walk(from, to, this.#edges)
      if (this.#edges.count > 0) this.#tell()
      from = to
    }
  }

  /** Time passes without a sample. */
  wait(nowMonoNs: bigint): void {
    this.#walk.wait(nowMonoNs, this.#tap.total, this.#edges)
    if (this.#edges.count > 0) this.#tell()
  }

  /** Rules forget earlier samples. Rules that wait for absence end, as with any sample. */
  #beginAnew(first: number): void {
    this.#isLost = false
    this.#number = -1
    this.#walk = this.#newWalk()
    this.#endAll(this.#tap.timeOf(first), (kind) => kind === 'absent')
  }

  #newWalk(): RuleWalk {
    const timeAt = (this.#tap.type.time as Slot).offset >>> 2
    return new RuleWalk({ ...this.#placed, ring: this.#ring, timeAt, arithmetic: 'fixed' })
  }

  /** Ends rules of some kinds, active or not. */
  #endAll(monoNs: bigint, isOf: (kind: SignalRule['test']['kind']) => boolean): void {
    for (const { name, test } of this.#placed.rules)
      if (isOf(test.kind))
        this.#onEdge({ rule: name, monoNs, sample: this.#tap.total, isStart: false, isLost: test.kind !== 'absent' })
  }

  /** The first sample after `from` with missing samples before it. */
  #nextGap(from: number, end: number): number {
    const word = this.#numberWord
    if (word === undefined) return end
    const { words, strideWords, capacity } = this.#ring
    const numberOf = (sample: number) => words[(sample % capacity) * strideWords + word] as number
    const last = end - 1
    const isFirst = this.#number < 0
    // Numbers rise by one. If the last number is as expected for this count of samples, none is missing.
    if (!isFirst && numberOf(last) === (this.#number + (end - from)) >>> 0) {
      this.#number = numberOf(last)
      return end
    }
    for (let sample = from; sample < end; sample++) {
      const number = numberOf(sample)
      if (!isFirst || sample > from) {
        const isNext = number === (this.#number + 1) >>> 0
        if (!isNext && sample > from) return sample
        if (!isNext) this.#walk.restart()
      }
      this.#number = number
    }
    return end
  }

  #tell(): void {
    const { rule, sample, isStart, count } = this.#edges
    this.#edges.clear()
    for (let at = 0; at < count; at++) {
      const { name, test } = this.#placed.rules[rule[at] as number] as PlacedRules['rules'][number]
      const began = isStart[at] === 1
      const shiftNs = began && test.kind === 'absent' ? BigInt(test.forNs) : 0n
      const of = sample[at] as number
      this.#onEdge({ rule: name, monoNs: this.#tap.timeOf(of) + shiftNs, sample: of, isStart: began, isLost: false })
    }
  }
}

function numberWordOf({ layout }: RecordType): number | undefined {
  const slot = layout.slots.find(({ name }) => name === NUMBER_FIELD)
  return slot?.field.kind === 'u32' && slot.field.role === 'value' ? slot.offset >>> 2 : undefined
}
