import { type Labels, numberAt, type RecordType, type Views, viewsOf } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import type { Tap, TapWatcher } from '../sampling/tap.ts'
import { recordGroups } from './record-groups.ts'
import { RecordSeries, type SeriesEdge } from './record-series.ts'
import type { Watch } from './watch.ts'

/** The field that marks a repeated sample, if a type has such a field. */
const REPEAT_FIELD = 'repeat'

/**
 * Rules that watch a ring record by record, because its samples may repeat or miss values. A repeat only shows that the
 * device is alive. Each signal has a small ring of new samples. A value that is absent is a gap of that signal only.
 */
export class RecordWatch implements TapWatcher {
  readonly reachSamples = 0
  /** Names of the rules. */
  readonly rules: readonly string[]
  readonly #tap: Tap
  readonly #views: Views
  readonly #repeat: Slot | undefined
  readonly #onEdge: (edge: SeriesEdge) => void
  readonly #newFresh: () => RecordSeries
  #fresh: RecordSeries
  /** Rules of absence, which also see repeats. */
  readonly #all: RecordSeries
  #isLost = false

  /**
   * Whether samples of a type are watched record by record. Samples of other types are complete and new, and arrive
   * much faster.
   */
  static isFor(type: RecordType): boolean {
    return repeatSlotOf(type) !== undefined || type.layout.slots.some(({ field }) => field.optional)
  }

  /** Rules on fields of a ring; undefined if there are none. */
  static of(tap: Tap, device: string, watch: Watch, onEdge: (edge: SeriesEdge) => void): RecordWatch | undefined {
    const made = new RecordWatch(tap, device, watch, onEdge)
    return made.rules.length === 0 ? undefined : made
  }

  constructor(tap: Tap, device: string, watch: Watch, onEdge: (edge: SeriesEdge) => void) {
    const { words } = tap.ring
    this.#tap = tap
    this.#views = viewsOf(new Uint8Array(words.buffer, words.byteOffset, tap.byteLength))
    this.#repeat = repeatSlotOf(tap.type)
    this.#onEdge = onEdge
    const labels = ringLabels(tap.type, device)
    const seriesOf = (isAbsence: boolean) => {
      const rules = watch.rules.filter(({ test }) => (test.kind === 'absent') === isAbsence)
      return new RecordSeries(tap.type, recordGroups({ ...watch, rules }, tap.type, labels))
    }
    this.#newFresh = () => seriesOf(false)
    this.#fresh = this.#newFresh()
    this.#all = seriesOf(true)
    this.rules = [...this.#fresh.rules, ...this.#all.rules]
  }

  /** Samples stopped: active rules end, except for rules that wait for absence. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    const monoNs = process.hrtime.bigint()
    for (const rule of this.#fresh.rules) this.#onEdge({ rule, monoNs, isStart: false, isLost: true })
  }

  /** Samples were put into the ring. Rules forget samples from before a loss. */
  take(first: number, end: number): void {
    if (this.#isLost) this.#fresh = this.#newFresh()
    this.#isLost = false
    const { type, capacity } = this.#tap
    for (let sample = first; sample < end; sample++) {
      const at = (sample % capacity) * type.layout.recordBytes
      const monoNs = this.#tap.timeOf(sample)
      this.#all.put(this.#views, at, monoNs, this.#onEdge)
      const isRepeat = this.#repeat !== undefined && numberAt(this.#repeat, this.#views, at) !== 0
      if (!isRepeat) this.#fresh.put(this.#views, at, monoNs, this.#onEdge)
    }
  }

  /** Time passes without a sample. */
  wait(nowMonoNs: bigint): void {
    this.#all.wait(nowMonoNs, this.#onEdge)
  }
}

/** The field of a type that marks repeats; undefined if it has none. */
export function repeatSlotOf({ layout }: Pick<RecordType, 'layout'>): Slot | undefined {
  return layout.slots.find(({ name, field }) => name === REPEAT_FIELD && field.role === 'value' && field.kind === 'u8')
}

/** Labels of the samples of a ring. The ring's name is made of their values: `DEVICE/PORT` if there are two. */
function ringLabels({ labels }: RecordType, device: string): Labels {
  const [first, ...others] = labels
  const values = device.split('/')
  const rest = values.splice(Math.max(1, values.length - others.length))
  return Object.fromEntries([
    [first?.name ?? 'device', values.join('/')],
    ...others.map(({ name }, at) => [name, rest[at] ?? ''] as const),
  ])
}
