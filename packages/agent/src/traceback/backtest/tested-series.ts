import { type Labels, numberAt, type RecordType, type Views } from '@sonde/sdk'
import { recordGroups } from '../../rules/record-groups.ts'
import { RecordSeries, type SeriesEdge } from '../../rules/record-series.ts'
import { repeatSlotOf } from '../../rules/record-watch.ts'
import type { Watch } from '../../rules/watch.ts'

/**
 * A longer silence is an interruption, in which the agent may not have run. Then rules start again, as they do with an
 * agent. Unit: nanoseconds.
 */
const SILENCE_NS = 60_000_000_000n
/** The silence must also be this many times the usual interval, because some series are reported rarely. */
const SILENT_INTERVALS = 10n
/** Between fast samples any such silence is an interruption: the samples of an event may have holes. */
const FAST_NS = 100_000_000n

/** Evaluates rules on the stored records of one series, in the order of their time. */
export class TestedSeries {
  /** Names of the rules on this series. */
  readonly rules: readonly string[]
  count = 0
  /** Unit: nanoseconds since the Unix epoch, like all times here. */
  firstNs = 0n
  lastNs = 0n
  readonly #repeat: ReturnType<typeof repeatSlotOf>
  readonly #newFresh: () => RecordSeries
  #fresh: RecordSeries
  /** Rules of absence, for which a repeated sample shows that the device is alive, too. */
  readonly #absences: RecordSeries
  /** Other rules that hold. */
  readonly #active = new Set<string>()
  #lastIntervalNs = 0n
  /** Distances without interruptions. */
  #regularNs = 0n
  #regularCount = 0n

  constructor(watch: Watch, type: RecordType, labels: Labels) {
    const seriesOf = (isAbsence: boolean) => {
      const rules = watch.rules.filter(({ test }) => (test.kind === 'absent') === isAbsence)
      return new RecordSeries(type, recordGroups({ ...watch, rules }, type, labels))
    }
    this.#repeat = repeatSlotOf(type)
    this.#newFresh = () => seriesOf(false)
    this.#fresh = this.#newFresh()
    this.#absences = seriesOf(true)
    this.rules = [...this.#fresh.rules, ...this.#absences.rules]
  }

  /** Mean distance of the records, without interruptions; undefined if there is none. Unit: nanoseconds. */
  get intervalNs(): bigint | undefined {
    return this.#regularCount > 0n ? this.#regularNs / this.#regularCount : undefined
  }

  /** Takes a record. Returns false for a record that is not newer than the previous one: several files may hold it. */
  put(views: Views, at: number, ns: bigint, onEdge: (edge: SeriesEdge) => void): boolean {
    if (this.count > 0) {
      const silenceNs = ns - this.lastNs
      if (silenceNs <= 0n) return false
      this.#absences.wait(ns, onEdge)
      if (this.#isInterruption(silenceNs)) {
        this.#interrupt(onEdge)
      } else {
        this.#regularNs += silenceNs
        this.#regularCount++
      }
      this.#lastIntervalNs = silenceNs
    } else {
      this.firstNs = ns
    }
    this.lastNs = ns
    this.count++
    this.#absences.put(views, at, ns, onEdge)
    const isRepeat = this.#repeat !== undefined && numberAt(this.#repeat, views, at) !== 0
    if (!isRepeat) this.#fresh.put(views, at, ns, (edge) => this.#note(edge, onEdge))
    return true
  }

  /** Time passes until the end of all records. */
  end(ns: bigint, onEdge: (edge: SeriesEdge) => void): void {
    this.#absences.wait(ns, onEdge)
  }

  #isInterruption(silenceNs: bigint): boolean {
    const { intervalNs } = this
    const isFast = intervalNs !== undefined && intervalNs < FAST_NS
    return (isFast || silenceNs > SILENCE_NS) && silenceNs > SILENT_INTERVALS * (intervalNs ?? this.#lastIntervalNs)
  }

  #note(edge: SeriesEdge, onEdge: (edge: SeriesEdge) => void): void {
    if (edge.isStart) this.#active.add(edge.rule)
    else this.#active.delete(edge.rule)
    onEdge(edge)
  }

  /** Whether active rules still held in the silence is unknown. They end with the last record before it. */
  #interrupt(onEdge: (edge: SeriesEdge) => void): void {
    for (const rule of this.#active) onEdge({ rule, monoNs: this.lastNs, isStart: false, isLost: true })
    this.#active.clear()
    this.#fresh = this.#newFresh()
  }
}
