import { labelOf } from '@sonde/sdk/internal'
import type { RunningSource } from '../hosting/running-source.ts'
import type { Holding } from '../sources/scraping/claims.ts'
import { addressKey, gpuSubject, podSubject } from '../sources/scraping/subjects.ts'
import { entityName, hostOfFact } from './claims.ts'
import type { Devices } from './devices.ts'
import type { EntityFact } from './facts.ts'
import { isNoGpu } from './kinds/gpu.ts'
import { factAddress, isSimulatedSeries } from './world.ts'

/** The parts of a source that precedence depends on. */
type Ranked = Pick<RunningSource, 'name' | 'definition' | 'stats' | 'command'>

/** Options of {@link Precedence}. */
export interface PrecedenceOptions {
  readonly devices: Pick<Devices, 'version' | 'facts'>
  /** In the order of the configuration. */
  readonly sources: readonly Ranked[]
  /** Name of this host. */
  readonly here: string
}

/**
 * Informs second-hand sources, such as exporters, of the devices that earlier sources hold. First come sources that
 * read the hardware themselves, then sources of the same kind that the configuration lists earlier. A second-hand
 * source then refuses rows that claim one of these keys for another device.
 */
export class Precedence {
  readonly #options: PrecedenceOptions
  /** The keys that each source received last, with the restart count of its host. */
  readonly #sent = new Map<string, string>()
  #version = -1

  constructor(options: PrecedenceOptions) {
    this.#options = options
  }

  /** Sends changed keys to the sources. Costs nothing while no device changes. */
  tell(): void {
    const { devices, sources } = this.#options
    const secondHand = sources.filter(({ definition }) => definition.isSecondHand)
    if (secondHand.length === 0) return
    const { version } = devices
    const isSame = version === this.#version
    this.#version = version
    for (const source of secondHand) {
      const { name, stats } = source
      if (isSame && this.#sent.get(name)?.startsWith(`${stats.restarts} `)) continue
      const hold = this.#holdingsFor(source)
      const message = `${stats.restarts} ${JSON.stringify(hold)}`
      if (message === (this.#sent.get(name) ?? '0 []')) {
        this.#sent.set(name, message)
        continue
      }
      this.#sent.set(name, message)
      // A host that does not run receives the keys after its start.
      source.command({ hold }).catch(() => this.#sent.delete(name))
    }
  }

  #holdingsFor({ name, definition }: Ranked): Holding[] {
    const { devices, sources, here } = this.#options
    const place = sources.findIndex((source) => source.name === name)
    const isBefore = (source: Ranked, at: number) =>
      source.definition.isSecondHand !== true || (source.definition.name === definition.name && at < place)
    const before = new Set(sources.filter(isBefore).map((source) => source.name))
    const holdings: Holding[] = []
    for (const fact of devices.facts())
      if (before.has(fact.source.id) && !isSimulatedSeries(fact.labels)) holdings.push(...factHoldings(fact, here))
    return holdings
  }
}

/** The keys that a fact holds, if its type defines an entity. */
function factHoldings(fact: EntityFact, here: string): Holding[] {
  const { kind, defines } = fact.type.entity ?? {}
  const holder = fact.source.id
  if (defines !== true) return []
  if (kind === 'pod') {
    const [own] = podSubject(labelOf(fact.labels, 'namespace'), labelOf(fact.labels, 'pod')).keys
    return [{ key: own, holder, isTaken: false }]
  }
  const host = hostOfFact(fact, here)
  if (kind === 'pci') return isNoGpu(fact) ? [{ key: addressKey(entityName(fact), host), holder, isTaken: true }] : []
  if (kind !== 'gpu') return []
  const gpu = { UUID: labelOf(fact.labels, 'UUID'), Hostname: host, gpu: labelOf(fact.labels, 'gpu') }
  const { keys } = gpuSubject({ ...gpu, pci_bus_id: factAddress(fact) })
  return keys.map((key) => ({ key, holder, isTaken: false }))
}
