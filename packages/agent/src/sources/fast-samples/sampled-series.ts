import { type RecordOf, type RecordType, viewsOf } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import { emptyRecord } from '../empty-record.ts'
import type { SampleRing, SourceContext } from '../source.ts'

/** What tells a series from the others of its type. */
export type SeriesLabels = Readonly<Record<string, string | number>>

/** How many samples were taken since it was asked last. */
export interface SampleCounts {
  readonly samples: number
  /** Of these, those that repeat the values of the one before. */
  readonly repeats: number
}

/** Samples of one series in a ring of the host, which is called by the labels of the series: `mlx5_0/1`. */
export class SampledSeries<T extends RecordType> {
  readonly type: T
  /** What the next sample puts into the ring: filled and put again and again. */
  readonly record: RecordOf<T>
  readonly #context: SourceContext
  readonly #labels: SeriesLabels
  readonly #ring: SampleRing
  readonly #put: () => void
  #samples = 0
  #repeats = 0

  /**
   * @param ringSamples Samples that are kept.
   * @throws SondeError `AGT_TAP` if the rings of the source would be larger than they may be.
   */
  constructor(type: T, labels: SeriesLabels, ringSamples: number, context: SourceContext) {
    this.type = type
    this.#context = context
    this.#labels = labels
    this.record = Object.assign(emptyRecord(type), labels)
    this.#ring = context.sampled(type, Object.values(labels).join('/'), ringSamples)
    const encode = encoderOf(type, context.source.symbols)
    const views = viewsOf(new Uint8Array(type.layout.recordBytes))
    this.#put = () => {
      const passed = context.source.pass(type, this.record)
      if (passed === undefined) return
      encode(passed as never, views, 0)
      this.#ring.put(views.bytes)
    }
  }

  /** Samples since the counts were taken. */
  get samples(): number {
    return this.#samples
  }

  /** Puts the record into the ring, as of a time of the host's monotonic clock. Unit: nanoseconds. */
  put(monoNs: bigint, isRepeat = false): void {
    Object.assign(this.record, { time: monoNs })
    this.#put()
    this.#samples++
    if (isRepeat) this.#repeats++
  }

  /** What was sampled since this was asked last. */
  takeCounts(): SampleCounts {
    const counts = { samples: this.#samples, repeats: this.#repeats }
    this.#samples = 0
    this.#repeats = 0
    return counts
  }

  /** Says that the series is gone, and its samples with it. */
  forget(reason: string): void {
    this.#ring.lose()
    const labels = Object.fromEntries(Object.entries(this.#labels).map(([name, value]) => [name, String(value)]))
    this.#context.absences.gone(this.type, labels, reason)
  }
}
