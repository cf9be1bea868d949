import type { Integer64 } from '@sonde/sdk/internal'
import type { LinkCounters } from '../../native/doca/phy.ts'
import { Missing } from '../field-absences.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { counterIn } from '../origins/counter-in-file.ts'
import { kindsOf, originsOf } from '../origins/metric-origins.ts'
import { type ChosenOrigins, type Offer, ServedValue } from '../origins/served-value.ts'
import type { SourceContext } from '../source.ts'
import { WideCounter } from '../wide-counter.ts'
import { docaDiagLinkType } from './type.ts'

const METRIC = 'doca_diag_link_errors'

/** Counters of the adapter, by kind of error. */
const OF_PHY: Readonly<Record<string, (counters: LinkCounters) => Integer64 | undefined>> = {
  link_downed: ({ linkDowns }) => linkDowns,
  link_error_recovery: ({ recoveries }) => recoveries,
  symbol_error: ({ symbolErrors }) => symbolErrors,
  effective_error: ({ effectiveErrors }) => effectiveErrors,
}

/** Highest rate of the counters of 32 bits. */
const EVENTS_PER_S = 1e6

const NOT_COUNTED = new Missing('unsupported', 'the adapter does not count this kind')

interface LinkCounter {
  readonly type: string
  readonly port: number
  readonly served: ServedValue<Integer64>
}

/** Errors of the links of one device, by kind. Each kind has one origin. */
export class LinkErrors {
  readonly #device: string
  readonly #context: SourceContext
  readonly #files: KernelFiles
  readonly #counters: readonly LinkCounter[]
  /** The latest counters of the adapter, or why there are none. */
  #phy: LinkCounters | Missing = NOT_COUNTED

  constructor(device: string, context: SourceContext, chosen: ChosenOrigins) {
    this.#device = device
    this.#context = context
    this.#files = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const found = this.#files.list('class', 'infiniband', device, 'ports')
    const ports = found instanceof ReadFailure || found.length === 0 ? ['1'] : found
    this.#counters = ports.flatMap((port, at) =>
      kindsOf(METRIC).map((type): LinkCounter => {
        const labels = { device, port, type }
        const offers = this.#offersOf(type, port, at === 0)
        const served = new ServedValue(
          { metric: METRIC, kind: type, type: docaDiagLinkType, labels },
          offers,
          context.absences,
          chosen,
        )
        return { type, port: Number(port), served }
      }),
    )
  }

  /** Whether any kind of error has an origin without the counters of the adapter. */
  async hasOthers(phy: Missing): Promise<boolean> {
    this.#phy = phy
    for (const { served } of this.#counters) if ((await served.read()) !== undefined) return true
    return false
  }

  /** @param phy The latest counters of the adapter, or why there are none. */
  async report(time: bigint, phy: LinkCounters | Missing): Promise<void> {
    this.#phy = phy
    for (const counter of this.#counters) await this.#report(counter, time)
  }

  /** Reports its series as gone. */
  gone(reason: string): void {
    for (const { served } of this.#counters) served.gone(reason)
  }

  close(): void {
    this.#files.close()
  }

  async #report({ type, port, served }: LinkCounter, time: bigint): Promise<void> {
    const found = await served.read()
    if (found === undefined) return
    const { origin, value: errors } = found
    this.#context.source.report(docaDiagLinkType, { time, device: this.#device, port, type, origin, errors })
  }

  /** The library describes the only port of a function, or the first of them. */
  #offersOf(type: string, port: string, isFirst: boolean): Offer<Integer64>[] {
    const offers: Offer<Integer64>[] = []
    const ofPhy = OF_PHY[type]
    if (isFirst && ofPhy !== undefined) offers.push({ origin: 'doca_phy', read: this.#phyReader(ofPhy) })
    if (originsOf(METRIC, type).includes('rdma_driver')) {
      const file = this.#files.file('class', 'infiniband', this.#device, 'ports', port, 'counters', type)
      offers.push({ origin: 'rdma_driver', read: () => counterIn(file) })
    }
    return offers
  }

  #phyReader(ofPhy: (counters: LinkCounters) => Integer64 | undefined): () => Integer64 | Missing {
    const wide = new WideCounter()
    return () => {
      const value = this.#phy instanceof Missing ? this.#phy : (ofPhy(this.#phy) ?? NOT_COUNTED)
      if (value instanceof Missing) return value
      return wide.next(value, { nowMs: performance.now(), eventsPerS: EVENTS_PER_S })
    }
  }
}
