import { type RecordType, wallNs } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import type { AdpRetxHistogram, HistogramShape } from '../../native/doca/adp-retx.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaReader } from '../doca/place.ts'
import { type ChosenOrigins, ServedValue } from '../origins/served-value.ts'
import type { Duty, SourceContext } from '../source.ts'
import type { DriverCounter } from './driver-counter.ts'
import { docaAdpRetxType } from './type.ts'

/** Parts of an {@link AdpRetxReader}. */
export interface AdpRetxParts {
  readonly device: string
  readonly histogram: AdpRetxHistogram
  readonly driver: DriverCounter
  readonly chosen: ChosenOrigins
  /** Returns the type with the bins of a shape. */
  readonly typeOf: (shape: HistogramShape) => RecordType
}

/** Reads the histogram of one device in each interval. */
export class AdpRetxReader implements DocaReader {
  readonly #parts: AdpRetxParts
  readonly #context: SourceContext
  readonly #duties: readonly Duty[]
  readonly #packets: ServedValue<Integer64>
  /** Counts in all bins. */
  #timeouts: Integer64 = 0
  #shape: HistogramShape
  #type: RecordType

  constructor(parts: AdpRetxParts, context: SourceContext) {
    const { device, histogram, driver, chosen, typeOf } = parts
    this.#parts = parts
    this.#context = context
    this.#packets = new ServedValue(
      { metric: 'doca_adp_retx_packets', type: docaAdpRetxType, labels: { device } },
      [
        { origin: 'roce_adp_retrans', read: () => driver.read() },
        { origin: 'timeouts', read: () => this.#timeouts },
      ],
      context.absences,
      chosen,
    )
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
    this.#context.absences.gone(this.#type, { rdma_device: this.#parts.device }, reason)
    this.#packets.gone(reason)
  }

  async close(): Promise<void> {
    this.#parts.driver.close()
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
    // A counter of 64 bits wraps.
    this.#timeouts = BigInt.asUintN(
      64,
      bins.reduce((sum, count) => sum + count, 0n),
    )
    const packets = await this.#packets.read()
    if (packets !== undefined)
      source.report(docaAdpRetxType, { time, device, origin: packets.origin, packets: packets.value })
  }

  /** Another program has set other bins. The counts in the old bins are another series. */
  #reshape(): void {
    const { device, histogram, typeOf } = this.#parts
    const type = typeOf(histogram.shape)
    const reason = 'another program changed the bins of the histogram'
    this.#context.absences.gone(this.#type, { rdma_device: device }, reason)
    if (this.#packets.origin === 'timeouts') this.#packets.gone(reason)
    this.#shape = histogram.shape
    this.#type = type
  }
}
