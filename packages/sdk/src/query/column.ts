import { keyOfText } from '../internal/seeded-hash.ts'
import type { Batch } from '../schema/batch.ts'
import { fieldLabelsOf } from '../schema/constant-labels.ts'
import { elementsOf, type Slot } from '../schema/layout.ts'
import type { Periods } from '../schema/periods.ts'
import { isPresent, msFactorOf, numberAt } from '../schema/reader.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, labelOf, labelsOf } from '../schema/series.ts'
import { SeriesIndex } from '../schema/series-index.ts'
import { type Views, viewsOf } from '../schema/views.ts'
import { expressionOf } from './expression.ts'
import type { Matcher } from './form.ts'
import type { SeriesBudget } from './series-budget.ts'

/** The samples of one field of one series, or of one bin, in time order. Queries compute on columns. */
export interface Column {
  /** Labels of the series, without the constant labels of the field. */
  readonly labels: Labels
  /** Times of the samples. Unit: milliseconds since the Unix epoch, with fraction. */
  readonly times: Float64Array
  /**
   * `numbers`: plain values. `words`: exact u64, alternating low and high u32. `increases`: the increase of a counter
   * since the previous sample, NaN if unknown (the form of roll-ups).
   */
  readonly values:
    | { readonly numbers: Float64Array }
    | { readonly words: Uint32Array }
    | { readonly increases: Float64Array }
  /**
   * Period of the source; 0 if it has none or reads its series in turns. The period is then estimated from the times.
   */
  readonly intervalMs: number
}

/**
 * Makes a test of labels from matchers.
 *
 * @throws SondeError `QRY_FORM` if a regular expression is invalid.
 */
export function matcherOf(matchers: readonly Matcher[]): (labels: Labels) => boolean {
  const tests = matchers.map((matcher) => {
    const { label } = matcher
    const holds = testOf(matcher)
    return (labels: Labels) => holds(labelOf(labels, label))
  })
  return (labels) => tests.every((test) => test(labels))
}

function testOf({ label, op, value }: Matcher): (text: string) => boolean {
  if (op === '=') return (text) => text === value
  if (op === '!=') return (text) => text !== value
  const matches = expressionOf(value, `the matcher of ${label}`)
  return op === '=~' ? matches : (text) => !matches(text)
}

/** The slots of a metric in a type: one, or several if fields share a metric name. */
export function slotsOfMetric(type: RecordType, metric: string): readonly Slot[] {
  return type.layout.slots.filter((slot) => type.metrics.get(slot.name) === metric)
}

/** Whether the constant labels of a field pass the matchers of their names. */
export function passesField({ field: { labels } }: Slot, matchers: readonly Matcher[]): boolean {
  return labels === undefined || matcherOf(matchers.filter(({ label }) => Object.hasOwn(labels, label)))(labels)
}

interface Growing {
  readonly labels: Labels
  times: Float64Array
  /** Plain values, or low and high words, of each element. */
  elements: (Float64Array | Uint32Array)[]
  count: number
  intervalMs: number
}

/** Collects columns of one field from batches in time order. Ignores batches of other types. */
export class ColumnReader {
  readonly #slot: Slot
  readonly #elements: readonly Slot[]
  readonly #type: RecordType
  readonly #matches: (labels: Labels) => boolean
  /** Adds the constant labels of the field. */
  readonly #labelsOf: (series: Labels) => Labels
  readonly #periods: Periods
  readonly #room: SeriesBudget | undefined
  readonly #exact: boolean
  readonly #bySource = new Map<object, { index: SeriesIndex; series: (Growing | null)[] }>()
  readonly #byKey = new Map<string, Growing>()

  /**
   * @param matches Is given the labels of the series and of the field.
   * @param periods The reported periods of the sources.
   * @param room The budget of matching series. Default: no limit.
   */
  constructor(
    type: RecordType,
    slot: Slot,
    matches: (labels: Labels) => boolean,
    periods: Periods,
    room?: SeriesBudget,
  ) {
    this.#type = type
    this.#slot = slot
    this.#elements = elementsOf(slot)
    this.#matches = matches
    this.#labelsOf = fieldLabelsOf(type, slot)
    this.#periods = periods
    this.#room = room
    this.#exact = slot.field.kind === 'u64'
  }

  /** Adds the samples of a batch whose time is in `(fromMs, toMs]`. */
  push(batch: Batch, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): void {
    const { time, layout } = this.#type
    if (time === undefined || batch.type.fingerprint !== this.#type.fingerprint) return
    let known = this.#bySource.get(batch.source)
    if (known === undefined) {
      known = { index: new SeriesIndex(this.#type), series: [] }
      this.#bySource.set(batch.source, known)
    }
    const views = viewsOf(batch.bytes)
    const toMsFactor = msFactorOf(this.#type)
    for (let record = 0, at = 0; record < batch.count; record++, at += layout.recordBytes) {
      const timeMs = numberAt(time, views, at) * toMsFactor
      if (timeMs <= fromMs || timeMs > toMs) continue
      if (!isPresent(layout, this.#slot, views, at)) continue
      const id = known.index.of(views, at)
      let series = known.series[id]
      if (series === undefined) {
        series = this.#open(batch, views, at)
        known.series[id] = series
      }
      if (series !== null) this.#append(series, timeMs, views, at)
    }
  }

  /** The columns so far of each series: one, or for a histogram one a bin, the lowest first. */
  take(): Column[][] {
    return [...this.#byKey.values()].map(({ labels, times, elements, count, intervalMs }) =>
      elements.map((values) => ({
        labels,
        intervalMs,
        times: times.subarray(0, count),
        values:
          values instanceof Uint32Array
            ? { words: values.subarray(0, count * 2) }
            : { numbers: values.subarray(0, count) },
      })),
    )
  }

  #open(batch: Batch, views: Views, at: number): Growing | null {
    const labels = labelsOf(this.#type, batch.source, views, at)
    if (!this.#matches(this.#labelsOf(labels))) return null
    const key = keyOfText(JSON.stringify(labels))
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    this.#room?.take(labels)
    const opened: Growing = {
      labels,
      times: new Float64Array(64),
      elements: this.#elements.map(() => (this.#exact ? new Uint32Array(128) : new Float64Array(64))),
      count: 0,
      intervalMs: this.#periods.ofSeries(batch.source, this.#type, labels),
    }
    this.#byKey.set(key, opened)
    return opened
  }

  #append(series: Growing, timeMs: number, views: Views, at: number): void {
    const { count } = series
    if (count === series.times.length) grow(series)
    series.times[count] = timeMs
    for (const [index, slot] of this.#elements.entries()) {
      const values = series.elements[index] as Float64Array | Uint32Array
      if (values instanceof Uint32Array) {
        values[count * 2] = views.data.getUint32(at + slot.offset, true)
        values[count * 2 + 1] = views.data.getUint32(at + slot.offset + 4, true)
      } else {
        values[count] = numberAt(slot, views, at)
      }
    }
    series.count = count + 1
  }
}

function grow(series: Growing): void {
  const { times, elements } = series
  series.times = new Float64Array(times.length * 2)
  series.times.set(times)
  series.elements = elements.map((values) => {
    const longer =
      values instanceof Uint32Array ? new Uint32Array(values.length * 2) : new Float64Array(values.length * 2)
    longer.set(values)
    return longer
  })
}
