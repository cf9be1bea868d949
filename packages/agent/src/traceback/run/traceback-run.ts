import { Combinations } from '../../rules/combinations.ts'
import { fieldOfDataId } from '../../rules/read/known-field.ts'
import type { RuleBook, SignalRule } from '../../rules/rule.ts'
import { EdgeList } from '../../rules/walk/edge-list.ts'
import { RuleWalk } from '../../rules/walk/rule-walk.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { EventsLog, LogEdge, LogNote } from '../log/events-log.ts'

/** Most samples that are read and walked at once. */
export const BATCH_SAMPLES = 4096

interface TimedEdge extends LogEdge {
  readonly timeNs: bigint
}

/** Options of a {@link TracebackRun}. */
export interface TracebackRunOptions {
  readonly book: RuleBook
  readonly ring: DeviceRing
  readonly log: EventsLog
}

/** Walks the rules of a book over the new samples of a ring, and passes edges and notes to the log. */
export class TracebackRun {
  /** Missing samples according to their numbers. */
  missingSamples = 0
  gaps = 0
  resets = 0
  wraps = 0
  readonly #options: TracebackRunOptions
  readonly #walk: RuleWalk
  /** Index in the book of each walked rule. */
  readonly #ruleOf: readonly number[]
  readonly #combinations: Combinations
  readonly #edges = new EdgeList()
  #first = 0

  constructor(options: TracebackRunOptions) {
    const { book, ring } = options
    this.#options = options
    this.#ruleOf = book.rules.flatMap((rule, index) => ('test' in rule ? [index] : []))
    this.#combinations = new Combinations(book.rules)
    this.#walk = new RuleWalk({
      signals: book.signals.map(({ dataId }, index) => ({
        at: SAMPLE_AT.values + 2 * index,
        kind: 'u64',
        isCounter: fieldOfDataId(dataId ?? 0n).role === 'counter',
      })),
      rules: book.rules.filter((rule): rule is SignalRule => 'test' in rule),
      ring,
      timeAt: SAMPLE_AT.time,
      arithmetic: 'fixed',
    })
  }

  /** Walks the samples since the last call, at most {@link BATCH_SAMPLES}. */
  take(): void {
    const { ring, log } = this.#options
    const end = ring.total
    for (let from = this.#first; from < end; ) {
      const gap = this.#gapBefore(from)
      if (gap !== undefined) this.#walk.restart()
      const to = this.#endOfStretch(from + 1, end)
      this.#edges.clear()
      this.#walk.walk(from, to, this.#edges)
      const falls = this.#fallNotes()
      log.write(from, to, this.#logEdges(), gap === undefined ? falls : [gap, ...falls])
      from = to
    }
    this.#first = end
  }

  /** Resets and wraps beyond the limit of notes. */
  get fallsLeftOut(): number {
    return this.#walk.falls.leftOut
  }

  /**
   * Time passes without a sample.
   * @param nowNs By the clock of the samples.
   */
  wait(nowNs: bigint): void {
    const { ring, log } = this.#options
    this.#edges.clear()
    this.#walk.wait(nowNs, ring.total, this.#edges)
    for (const edge of this.#logEdges()) log.late(edge)
  }

  #endOfStretch(from: number, end: number): number {
    for (let sample = from; sample < end; sample++) if (this.#isGap(sample)) return sample
    return end
  }

  #isGap(sample: number): boolean {
    if (sample === 0) return false
    const { ring } = this.#options
    const { words } = ring
    const at = ring.wordAt(sample)
    if (((words[at + SAMPLE_AT.flags] as number) & 1) === 1) return true
    return words[at + SAMPLE_AT.id] !== ((words[ring.wordAt(sample - 1) + SAMPLE_AT.id] as number) + 1) >>> 0
  }

  #gapBefore(sample: number): LogNote | undefined {
    if (!this.#isGap(sample)) return undefined
    const { ring } = this.#options
    const [before, after] = [sample - 1, sample].map((one) => ring.words[ring.wordAt(one) + SAMPLE_AT.id] as number)
    const missing = ((after as number) - (before as number) - 1) >>> 0
    this.gaps++
    // A number that fell means that the device restarted.
    const isRestart = missing >= 2 ** 31
    if (!isRestart) this.missingSamples += missing
    const text = isRestart
      ? `the device restarted the count of its samples: ${after} after ${before}`
      : `${missing} samples are missing before this one`
    return { kind: 'gap', sample, text }
  }

  #fallNotes(): LogNote[] {
    const { signals } = this.#options.book
    return this.#walk.falls
      .take()
      .map(({ signal, sample, kind }): LogNote => {
        if (kind === 'reset') this.resets++
        else this.wraps++
        const name = JSON.stringify(signals[signal]?.name ?? '')
        const text = kind === 'reset' ? `${name} fell: its counter was reset` : `${name} wrapped at 2^32`
        return { kind, sample, text }
      })
      .sort((a, b) => a.sample - b.sample)
  }

  /** Edges for the log, including those of combinations: ends first, each in the order of the file. */
  #logEdges(): readonly LogEdge[] {
    const { count, rule, sample, isStart } = this.#edges
    const listed: LogEdge[] = []
    for (let from = 0; from < count; ) {
      const at = sample[from] as number
      const group: TimedEdge[] = []
      for (; from < count && sample[from] === at; from++) {
        const index = this.#ruleOf[rule[from] as number] as number
        group.push({ rule: index, sample: at, isStart: isStart[from] === 1, timeNs: this.#timeOf(index, at) })
      }
      const combined = this.#combinations.isEmpty ? [] : this.#combine(group, at)
      listed.push(...(combined.length === 0 ? group : inOrder([...group, ...combined])))
    }
    return listed
  }

  #combine(group: readonly TimedEdge[], sample: number): LogEdge[] {
    const { rules } = this.#options.book
    const made = this.#combinations.take(
      group.map(({ rule, isStart, timeNs }) => {
        return { rule: rules[rule]?.name ?? '', device: '', monoNs: timeNs, errorNs: 0n, isStart }
      }),
    )
    return made.map(({ rule, isStart }) => ({ rule: rules.findIndex(({ name }) => name === rule), sample, isStart }))
  }

  /** A rule of absence begins when no sample came for its time. */
  #timeOf(index: number, sample: number): bigint {
    const { book, ring } = this.#options
    const timeNs = ring.big(sample, SAMPLE_AT.time)
    const rule = book.rules[index]
    return rule !== undefined && 'test' in rule && rule.test.kind === 'absent'
      ? timeNs + BigInt(rule.test.forNs)
      : timeNs
  }
}

function inOrder(edges: LogEdge[]): LogEdge[] {
  return edges.sort((a, b) => Number(a.isStart) - Number(b.isStart) || a.rule - b.rule)
}
