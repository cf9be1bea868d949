import { type RecordType, wallNs } from '@sonde/sdk'
import type { AdpRetxHistogram, HistogramShape } from '../../native/doca/adp-retx.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaReader } from '../doca/place.ts'
import type { Duty, SourceContext } from '../source.ts'
import type { DriverCounter } from './driver-counter.ts'
import { COUNTER_ORIGINS, docaAdpRetxType } from './type.ts'

/** Parts of an {@link AdpRetxReader}. */
export interface AdpRetxParts {
  readonly device: string
  readonly histogram: AdpRetxHistogram
  /**
   * The counter of the driver, chosen once, because a series with a new origin would jump. Undefined: the histogram
   * counts.
   */
  readonly driver: DriverCounter | undefined
  /** Returns the type with the bins of a shape. */
  readonly typeOf: (shape: HistogramShape) => RecordType
}

/** Reads the histogram of one device in each interval. */
export class AdpRetxReader implements DocaReader {
  readonly #parts: AdpRetxParts
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  readonly #origin: string
  #shape: HistogramShape
  #type: RecordType

  constructor(parts: AdpRetxParts, context: SourceContext) {
    const { device, histogram, driver, typeOf } = parts
    this.#parts = parts
    this.#context = context
    this.#origin = driver === undefined ? COUNTER_ORIGINS.histogram : COUNTER_ORIGINS.driver
    this.#shape = histogram.shape
    this.#type = typeOf(histogram.shape)
    this.#duties = [
      { device, name: 'read', everyUs: context.intervalMs * 1000, paces: 'report', run: () => this.#read() },
    ]
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    const { device } = this.#parts
    const { absences } = this.#context
    absences.gone(this.#type, { rdma_device: device }, reason)
    absences.gone(docaAdpRetxType, { device, origin: this.#origin }, reason)
  }

  async close(): Promise<void> {
    this.#parts.driver?.close()
    await this.#parts.histogram.close()
  }

  async #read(): Promise<void> {
    const { device, histogram } = this.#parts
    const bins = await histogram.read()
    if (bins instanceof DocaFailure) throw bins.error
    if (histogram.shape !== this.#shape) this.#reshape()
    const time = wallNs()
    const { source } = this.#context
    source.report(this.#type, { time, rdma_device: device, seconds: Array.from(bins) } as never)
    const packets = this.#packets(bins)
    if (packets !== undefined) source.report(docaAdpRetxType, { time, device, origin: this.#origin, packets })
  }

  #packets(bins: BigUint64Array): number | bigint | undefined {
    const { driver } = this.#parts
    // A counter of 64 bits wraps.
    if (driver === undefined)
      return BigInt.asUintN(
        64,
        bins.reduce((sum, count) => sum + count, 0n),
      )
    const counted = driver.read()
    if (counted === undefined) this.#context.failed(this.#parts.device, new Error('roce_adp_retrans cannot be read'))
    return counted
  }

  /** Another program has set other bins. The counts in the old bins are another series. */
  #reshape(): void {
    const { device, histogram, driver, typeOf } = this.#parts
    const type = typeOf(histogram.shape)
    const reason = 'another program changed the bins of the histogram'
    this.#context.absences.gone(this.#type, { rdma_device: device }, reason)
    if (driver === undefined) this.#context.absences.gone(docaAdpRetxType, { device, origin: this.#origin }, reason)
    this.#shape = histogram.shape
    this.#type = type
  }
}
