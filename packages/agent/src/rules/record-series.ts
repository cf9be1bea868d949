import { isPresent, numberAt, type RecordType, type Views } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { isWholeField } from './read/known-field.ts'
import type { SignalRule } from './rule.ts'
import { EdgeList } from './walk/edge-list.ts'
import type { WalkSignal } from './walk/ring-memory.ts'
import { RuleWalk } from './walk/rule-walk.ts'

/** Fewest samples of a ring: rates look back by time. */
const RING_SAMPLES_MIN = 256
/** Samples beyond the history that rules need. */
const SPARE_SAMPLES = 8
const WORDS_OF_VALUE = 2

/** Rules on one field of a type, and on the fields that divide it. */
export interface RecordGroup {
  readonly slots: readonly Slot[]
  readonly signals: readonly WalkSignal[]
  readonly rules: readonly SignalRule[]
}

/** A start or end of a rule on a series. */
export interface SeriesEdge {
  readonly rule: string
  readonly monoNs: bigint
  readonly isStart: boolean
  /** Whether the end was not observed because samples stopped. Default: false. */
  readonly isLost?: boolean
}

/** One series of records, watched by rules. Each group of fields has a small ring. */
export class RecordSeries {
  /** Names of the rules that watch it. */
  readonly rules: readonly string[]
  /** Memory of its rings. Unit: bytes. */
  readonly bytes: number
  readonly #rings: readonly GroupRing[]

  constructor(type: RecordType, groups: readonly RecordGroup[]) {
    this.rules = groups.flatMap(({ rules }) => rules.map(({ name }) => name))
    this.bytes = ringsBytes(groups)
    this.#rings = groups.map((group) => new GroupRing(type, group))
  }

  /** Takes a record. */
  put(views: Views, at: number, monoNs: bigint, onEdge: (edge: SeriesEdge) => void): void {
    for (const ring of this.#rings) ring.put(views, at, monoNs, onEdge)
  }

  /** Time passes without a record. */
  wait(nowNs: bigint, onEdge: (edge: SeriesEdge) => void): void {
    for (const ring of this.#rings) ring.wait(nowNs, onEdge)
  }
}

/** Memory of the rings of a series with these groups. Unit: bytes. */
export function ringsBytes(groups: readonly RecordGroup[]): number {
  const words = groups.map((group) => ringCapacity(group) * ringStride(group))
  return words.reduce((sum, count) => sum + count, 0) * Uint32Array.BYTES_PER_ELEMENT
}

function ringCapacity({ rules }: RecordGroup): number {
  const reach = Math.max(0, ...rules.map(({ test }) => ('overSamples' in test ? test.overSamples : 0)))
  return Math.max(RING_SAMPLES_MIN, reach + SPARE_SAMPLES)
}

function ringStride({ signals }: RecordGroup): number {
  return WORDS_OF_VALUE * (1 + signals.length)
}

/** Positions of a group's signals in its ring: after the time, in their order. */
export function ringSignals(slots: readonly Slot[]): WalkSignal[] {
  return slots.map(({ field }, index) => ({
    at: WORDS_OF_VALUE * (index + 1),
    kind: isWholeField(field) ? 'u64' : 'f64',
    isCounter: field.role === 'counter',
  }))
}

class GroupRing {
  readonly #type: RecordType
  readonly #group: RecordGroup
  readonly #walk: RuleWalk
  readonly #edges = new EdgeList()
  readonly #data: DataView
  readonly #strideWords: number
  readonly #capacity: number
  #total = 0
  #lastNs = 0n

  constructor(type: RecordType, group: RecordGroup) {
    const { rules, signals } = group
    this.#type = type
    this.#group = group
    this.#strideWords = ringStride(group)
    this.#capacity = ringCapacity(group)
    const words = new Uint32Array(this.#capacity * this.#strideWords)
    this.#data = new DataView(words.buffer)
    const ring = { words, strideWords: this.#strideWords, capacity: this.#capacity }
    this.#walk = new RuleWalk({ rules, signals, ring, timeAt: 0, arithmetic: 'fixed' })
  }

  put(views: Views, at: number, monoNs: bigint, onEdge: (edge: SeriesEdge) => void): void {
    const { slots } = this.#group
    if (slots.some((slot) => !isPresent(this.#type.layout, slot, views, at))) {
      this.#walk.restart()
      return
    }
    // A record that is older than the previous record gets the previous record's time.
    if (monoNs > this.#lastNs) this.#lastNs = monoNs
    const to = (this.#total % this.#capacity) * this.#strideWords * Uint32Array.BYTES_PER_ELEMENT
    this.#data.setBigUint64(to, this.#lastNs, true)
    for (const [index, slot] of slots.entries()) this.#write(slot, views, at, to + 8 * (index + 1))
    this.#total++
    this.#walk.walk(this.#total - 1, this.#total, this.#edges)
    if (this.#edges.count > 0) this.#tell(onEdge)
  }

  wait(nowNs: bigint, onEdge: (edge: SeriesEdge) => void): void {
    this.#walk.wait(nowNs, this.#total, this.#edges)
    if (this.#edges.count > 0) this.#tell(onEdge)
  }

  /** Whole numbers of 64 bits stay exact. */
  #write(slot: Slot, views: Views, at: number, to: number): void {
    if (slot.field.kind === 'u64' && isWholeField(slot.field))
      this.#data.setBigUint64(to, views.data.getBigUint64(at + slot.offset, true), true)
    else if (isWholeField(slot.field)) this.#data.setBigUint64(to, BigInt(numberAt(slot, views, at)), true)
    else this.#data.setFloat64(to, numberAt(slot, views, at), true)
  }

  #tell(onEdge: (edge: SeriesEdge) => void): void {
    const { count, rule, sample, isStart } = this.#edges
    this.#edges.clear()
    for (let index = 0; index < count; index++) {
      const { name, test } = this.#group.rules[rule[index] as number] as SignalRule
      const began = isStart[index] === 1
      const at = ((sample[index] as number) % this.#capacity) * this.#strideWords * Uint32Array.BYTES_PER_ELEMENT
      const shiftNs = began && test.kind === 'absent' ? BigInt(test.forNs) : 0n
      onEdge({ rule: name, monoNs: this.#data.getBigUint64(at, true) + shiftNs, isStart: began })
    }
  }
}
