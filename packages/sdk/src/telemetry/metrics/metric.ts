import { SondeError, shown } from '../../errors.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { LossReason } from '../../schema/symbols.ts'
import type { Absences } from '../../source/absence.ts'
import type { Source } from '../../source/source.ts'
import type { Row } from '../../source/table.ts'
import { keyLabels, labelsKey, type Series, type Variant } from './declarations.ts'
import { DroppingHandle } from './handles.ts'
import type { Sampled } from './sampling.ts'

/** The argument of {@link Metric.bind}: a text for every label of the metric; none if it has no labels. */
export type LabelArguments<N extends string> = [N] extends [never]
  ? [labels?: Readonly<Record<string, never>>]
  : [labels: Readonly<Record<N, string>>]

/** A metric of a context. `H` is the handle of its series. */
export interface Metric<N extends string, H> {
  readonly name: string
  /** The type of its records: one value in a field with the name of the metric. */
  readonly type: RecordType
  /** Number of series bound in this context. */
  readonly seriesCount: number
  /**
   * The handle of a series. The same labels give the same handle, even in another context of the source. If the limit
   * of series is reached, updates of the handle are dropped and counted.
   *
   * @throws SondeError `MTR_LABELS` if a label is missing or unknown, `MTR_CLOSED` after `close` of the context.
   */
  bind(...labels: LabelArguments<N>): H
  /**
   * Releases a series. When no context uses it, it is no longer sampled, its handle does nothing, and views drop it
   * when it expires.
   */
  release(...labels: LabelArguments<N>): void
}

/** Options of a metric. */
export interface MetricParts<H> {
  readonly name: string
  readonly source: Source
  readonly variant: Variant
  readonly constantLabels: Readonly<Record<string, string>>
  readonly seriesLimit: number
  readonly minSampleIntervalUs: number
  /** Makes the handle of a row. */
  readonly handleOf: (row: Row) => H
  /** Counts updates of a series over the limit. */
  readonly dropped: (reason: LossReason) => void
}

/** The codes of a source that cannot bind another row. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['SRC_SYMBOL_LIMIT', 'SRC_ROW_LIMIT'])

const REASON = 'Its metrics were closed'

/** See {@link Metric}. */
export class BoundMetric<N extends string, H extends object> implements Metric<N, H>, Sampled {
  readonly name: string
  readonly type: RecordType
  readonly #parts: MetricParts<H>
  /** Names of the labels for `bind`. */
  readonly #names: readonly string[]
  /** Keys of the series of this context. */
  readonly #held = new Set<string>()
  #sampledMs = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(parts: MetricParts<H>) {
    this.#parts = parts
    this.name = parts.name
    this.type = parts.variant.type
    this.#names = parts.variant.labels.filter((name) => !Object.hasOwn(parts.constantLabels, name))
  }

  get seriesCount(): number {
    return this.#held.size
  }

  bind(...[given]: LabelArguments<N>): H {
    if (this.#closed) throw new SondeError('MTR_CLOSED', `metric ${this.name} is closed; make a new context`)
    const { variant, seriesLimit } = this.#parts
    const labels = this.#checked(given)
    const key = labelsKey(variant.labels, labels)
    const known = variant.series.get(key)
    if (known !== undefined && this.#held.has(key)) return known.handle as H
    if (this.#held.size >= seriesLimit) return this.#dropping('metric_series_limit')
    const series = known ?? this.#open(key, labels)
    if (series === undefined) return this.#dropping('metric_no_room')
    series.holders++
    this.#held.add(key)
    return series.handle as H
  }

  release(...[given]: LabelArguments<N>): void {
    this.#let(labelsKey(this.#parts.variant.labels, this.#checked(given)))
  }

  /**
   * Releases all series and reports those that no other context uses as gone; as a whole type if none of its series is
   * left.
   */
  close(absences: Absences): void {
    this.#closed = true
    const { series, labels } = this.#parts.variant
    const held = [...this.#held]
    for (const key of held) this.#let(key)
    if (held.length === 0) return
    if (series.size === 0) absences.set(this.type, undefined, '', 'gone', REASON)
    else for (const key of held) if (!series.has(key)) absences.gone(this.type, keyLabels(labels, key), REASON)
  }

  /** Whether the metric may be sampled again; if so, it counts as sampled. */
  takeTurn(nowMs: number): boolean {
    if ((nowMs - this.#sampledMs) * 1000 < this.#parts.minSampleIntervalUs) return false
    this.#sampledMs = nowMs
    return true
  }

  #open(key: string, labels: Readonly<Record<string, string>>): Series | undefined {
    const { source, variant, handleOf } = this.#parts
    try {
      const row = source.bind(variant.type, labels)
      const series: Series = { row, handle: handleOf(row), holders: 0 }
      variant.series.set(key, series)
      return series
    } catch (error) {
      if (error instanceof SondeError && NO_ROOM.has(error.code)) return undefined
      throw error
    }
  }

  #let(key: string): void {
    if (!this.#held.delete(key)) return
    const { series } = this.#parts.variant
    const one = series.get(key)
    if (one === undefined || --one.holders > 0) return
    series.delete(key)
    one.row.release()
  }

  #dropping(reason: LossReason): H {
    const handle: object = new DroppingHandle(() => this.#parts.dropped(reason))
    return handle as H
  }

  #checked(given: unknown): Readonly<Record<string, string>> {
    const labels = given === undefined ? {} : given
    if (labels === null || typeof labels !== 'object') this.#refuse(`was given ${shown(labels)}`)
    for (const name of this.#names) {
      const text: unknown = Object.hasOwn(labels, name) ? Reflect.get(labels, name) : undefined
      if (typeof text !== 'string') this.#refuse(`was given ${shown(text)} for ${name}`)
    }
    const other = Object.keys(labels).find((name) => !this.#names.includes(name))
    if (other !== undefined) this.#refuse(`has no label ${JSON.stringify(other)} that is its own`)
    return { ...labels, ...this.#parts.constantLabels }
  }

  #refuse(what: string): never {
    throw new SondeError(
      'MTR_LABELS',
      `metric ${this.name} ${what}; allowed: an object with a text for each of its labels: ${this.#names.join(', ') || 'none'}`,
    )
  }
}
