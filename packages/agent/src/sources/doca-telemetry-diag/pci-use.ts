import type { RecordOf } from '@sonde/sdk'
import { FieldAbsences, Missing } from '../field-absences.ts'
import type { OriginName } from '../origins/metric-origins.ts'
import type { SourceContext } from '../source.ts'
import type { LinkBandwidth } from './link-bandwidth.ts'
import { type docaDiagPciBytesType, docaDiagPciUseType } from './type.ts'

const NS_PER_S = 1e9
const FIRST = new Missing('not_sampled', 'it needs two samples of a counter that rises')
const NOT_SAMPLED = new Missing('not_sampled', 'the bytes of this direction are not among the sampled counters')

type PciBytes = Pick<RecordOf<typeof docaDiagPciBytesType>, 'inbound_bytes_total' | 'outbound_bytes_total'>

/** The bytes of a sample, and its time by the host's monotonic clock. Unit: nanoseconds. */
interface BytesAt {
  readonly bytes: PciBytes
  readonly monoNs: bigint
}

/** Reports how much of its PCIe link a device uses: the bytes of a sample, divided by what the link carries. */
export class PciUse {
  readonly #device: string
  readonly #bandwidth: LinkBandwidth
  readonly #context: SourceContext
  #absences: { readonly origin: OriginName; readonly told: FieldAbsences } | undefined
  #last: BytesAt | undefined

  constructor(device: string, bandwidth: LinkBandwidth, context: SourceContext) {
    this.#device = device
    this.#bandwidth = bandwidth
    this.#context = context
  }

  /** @param time Of the record. Unit: nanoseconds since the Unix epoch. */
  async report(time: bigint, now: BytesAt): Promise<void> {
    const last = this.#last
    this.#last = now
    const bandwidth = await this.#bandwidth.read()
    if (bandwidth === undefined) return
    const { origin, value } = bandwidth
    const shareOf = (name: keyof PciBytes): number | Missing => {
      const [before, after] = [last?.bytes[name], now.bytes[name]]
      if (after === undefined) return NOT_SAMPLED
      if (last === undefined || before === undefined || after < before || now.monoNs <= last.monoNs) return FIRST
      const bytesPerSecond = (Number(BigInt(after) - BigInt(before)) * NS_PER_S) / Number(now.monoNs - last.monoNs)
      return bytesPerSecond / value
    }
    const told = this.#toldOf(origin)
    this.#context.source.report(docaDiagPciUseType, {
      time,
      device: this.#device,
      origin,
      link_bandwidth_bytes_per_second: value,
      inbound_ratio: told.settle('inbound_ratio', shareOf('inbound_bytes_total')),
      outbound_ratio: told.settle('outbound_ratio', shareOf('outbound_bytes_total')),
    })
  }

  /** Reports its series as gone. */
  gone(reason: string): void {
    this.#bandwidth.gone(reason)
    this.#absences = undefined
    this.#last = undefined
  }

  close(): Promise<void> {
    return this.#bandwidth.close()
  }

  #toldOf(origin: OriginName): FieldAbsences {
    if (this.#absences?.origin !== origin) {
      const labels = { device: this.#device, origin }
      const told = new FieldAbsences(this.#context.absences, docaDiagPciUseType, labels)
      this.#absences = { origin, told }
    }
    return this.#absences.told
  }
}
