import { type RecordOf, type RecordType, viewsOf } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import { emptyRecord } from '../empty-record.ts'
import type { SampleRing, SourceContext } from '../source.ts'

/** Labels that identify a series of its type. */
export type SeriesLabels = Readonly<Record<string, string | number>>

/** Samples since the previous report. */
export interface SampleCounts {
  readonly samples: number
  /** Samples that repeat the values of the sample before. */
  readonly repeats: number
}

/** Samples of one series in a ring of the host. The ring is named after the labels of the series: `mlx5_0/1`. */
export class SampledSeries<T extends RecordType> {
  readonly type: T
  /** The next sample; this object is filled and put into the ring repeatedly. */
  readonly record: RecordOf<T>
  readonly #context: SourceContext
  readonly #labels: SeriesLabels
  readonly #ring: SampleRing
  readonly #put: () => void
  #samples = 0
  #repeats = 0

  /**
   * @param ringSamples Capacity of the ring.
   * @throws SondeError `AGT_TAP` if the rings of the source exceed their limit.
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

  /** Samples since the last {@link takeCounts}. */
  get samples(): number {
    return this.#samples
  }

  /** Puts the record into the ring, with a time of the host's monotonic clock. Unit: nanoseconds. */
  put(monoNs: bigint, isRepeat = false): void {
    Object.assign(this.record, { time: monoNs })
    this.#put()
    this.#samples++
    if (isRepeat) this.#repeats++
  }

  /** Returns the counts since the last call. */
  takeCounts(): SampleCounts {
    const counts = { samples: this.#samples, repeats: this.#repeats }
    this.#samples = 0
    this.#repeats = 0
    return counts
  }

  /** Reports that the series is gone, and drops its samples. */
  forget(reason: string): void {
    this.#ring.lose()
    const labels = Object.fromEntries(Object.entries(this.#labels).map(([name, value]) => [name, String(value)]))
    this.#context.absences.gone(this.type, labels, reason)
  }
}
