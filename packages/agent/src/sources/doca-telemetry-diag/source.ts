import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordType } from '@sonde/sdk'
import type { DocaDevice } from '../../native/doca/device.ts'
import { diagLimits } from '../../native/doca/diag.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import { DocaSource } from '../doca/doca-source.ts'
import { cardOf } from '../doca/lower-functions.ts'
import type { DocaReader } from '../doca/place.ts'
import type { ChosenOrigins } from '../origins/served-value.ts'
import type { NodeSource, SourceContext } from '../source.ts'
import { Card, CardSampler } from './card.ts'
import type { DiagOptions } from './config.ts'
import { idsOf } from './counters.ts'
import { DrainCost } from './drain-cost.ts'
import { LinkBandwidth } from './link-bandwidth.ts'
import { paceOf, planOf } from './plan.ts'
import { DiagReader } from './reader.ts'
import { docaDiagSamplingType, sampleTypeOf } from './type.ts'

/** Creates the source, in the child process that loads the library. */
export function createDiag(options: DiagOptions, context: SourceContext): NodeSource {
  const opener = new ReaderOpener(options)
  return new DocaSource(options, context, {
    types: [docaDiagSamplingType],
    openReader: (device, opened) => opener.open(device, opened),
    isOrdered: true,
  })
}

/** Opens the counters of devices. Devices with the same counters share a type of samples. */
class ReaderOpener {
  readonly #options: DiagOptions
  readonly #types = new Map<string, RecordType>()
  /** Bounded by the number of devices that were ever opened. */
  readonly #cards = new Map<string, Card>()
  readonly #chosen: ChosenOrigins = new Map()
  #cost: DrainCost | undefined

  constructor(options: DiagOptions) {
    this.#options = options
  }

  async open(device: DocaDevice, context: SourceContext): Promise<DocaReader | DocaFailure> {
    const options = this.#options
    const limits = await diagLimits(device)
    if (limits instanceof DocaFailure) return limits
    const wanted = idsOf(options.counters, portsOf(device.name, context.paths.sysfs))
    const ids = wanted.slice(0, limits.maxIds)
    const asked = planOf(options, limits, context.intervalMs, ids.length)
    const card = await this.#cardOf(device)
    const sampler = await CardSampler.open(card, device, { ids, ...asked, force: options.force_ownership })
    if (sampler instanceof DocaFailure) return sampler
    const full = new DocaFailure(device.name, 'doca_telemetry_diag_set_max_num_data_ids', 'FULL')
    for (const id of wanted.slice(limits.maxIds)) sampler.refused.set(id, full)
    const { logSamples } = asked
    const sampling = { logSamples, periodNs: sampler.periodNs, intervalMs: context.intervalMs, counters: ids.length }
    // A device may sample less often than requested.
    const pace = asked.drainUs === 0 ? {} : { ...paceOf(options, sampling), querySamples: asked.querySamples }
    if (asked.drainUs > 0) this.#cost ??= new DrainCost()
    return new DiagReader(
      {
        device: device.name,
        sampler,
        bandwidth: new LinkBandwidth(device, context, this.#chosen),
        plan: { ...asked, ...pace },
        sampleType: this.#typeOf(sampler.ids),
        cpuRatio: () => this.#cost?.ratio,
      },
      context,
    )
  }

  async #cardOf(device: DocaDevice): Promise<Card> {
    const key = cardOf(await device.pciAddress(), device.name)
    const card = this.#cards.get(key) ?? new Card(key, device.library.paths.telemetry)
    this.#cards.set(key, card)
    return card
  }

  #typeOf(ids: readonly bigint[]): RecordType {
    const key = ids.join()
    const type = this.#types.get(key) ?? sampleTypeOf(ids)
    this.#types.set(key, type)
    return type
  }
}

/** Returns the number of ports that the kernel lists for a device; 1 if it lists none. */
function portsOf(device: string, sysfs: string): number {
  try {
    return Math.max(1, readdirSync(join(sysfs, 'class/infiniband', device, 'ports')).length)
  } catch {
    return 1
  }
}
