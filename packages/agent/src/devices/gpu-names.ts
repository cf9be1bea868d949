import { labelOf } from '@sonde/sdk/internal'
import type { RunningSource } from '../hosting/running-source.ts'
import { hostOfFact } from './claims.ts'
import type { Devices } from './devices.ts'
import { isSimulatedSeries } from './world.ts'

/** Type with the names of MIG instances. */
const INSTANCES = 'nvml_mig_info'

/** The parts of a source that this depends on. */
type Named = Pick<RunningSource, 'name' | 'definition' | 'stats' | 'command'>

/** Options of {@link GpuNamesTeller}. */
export interface GpuNamesOptions {
  readonly devices: Pick<Devices, 'version' | 'facts'>
  readonly sources: readonly Named[]
  /** Name of this host. */
  readonly here: string
}

/** Sends the names of the GPUs of this node to the sources that resolve ids of devices by them. */
export class GpuNamesTeller {
  readonly #options: GpuNamesOptions
  /** The message that each source received last, with the restart count of its host. */
  readonly #sent = new Map<string, string>()
  #gpus: object[] = []
  #version = -1

  constructor(options: GpuNamesOptions) {
    this.#options = options
  }

  /** Sends changed names. */
  tell(): void {
    const { sources, devices } = this.#options
    const takers = sources.filter(({ definition }) => definition.takesGpuNames)
    if (takers.length === 0) return
    const { version } = devices
    if (version !== this.#version) this.#gpus = this.#listed()
    this.#version = version
    const gpus = this.#gpus
    for (const source of takers) {
      const message = `${source.stats.restarts} ${JSON.stringify(gpus)}`
      if (message === (this.#sent.get(source.name) ?? '0 []')) continue
      this.#sent.set(source.name, message)
      // A host that does not run receives the names after its start.
      source.command({ gpus }).catch(() => this.#sent.delete(source.name))
    }
  }

  #listed(): object[] {
    const { devices, here } = this.#options
    const real: object[] = []
    const simulated: object[] = []
    const facts = [...devices.facts()]
    const instances = Map.groupBy(
      facts.filter(({ type, goneMs }) => type.name === INSTANCES && goneMs === undefined),
      ({ labels }) => labelOf(labels, 'UUID'),
    )
    for (const fact of facts) {
      const { entity } = fact.type
      if (fact.goneMs !== undefined || entity?.kind !== 'gpu' || entity.defines !== true) continue
      const [UUID, host] = [labelOf(fact.labels, 'UUID'), hostOfFact(fact, here)]
      const named = (instances.get(UUID) ?? []).map(({ labels }) => [
        labelOf(labels, 'MIG_UUID'),
        labelOf(labels, 'GPU_I_ID'),
      ])
      const gpus = isSimulatedSeries(fact.labels) ? simulated : real
      gpus.push({
        UUID,
        device: labelOf(fact.labels, 'device_file'),
        Hostname: host === here ? '' : host,
        instances: Object.fromEntries(named),
      })
    }
    // A simulated node beside the real node has device files of the same names.
    return real.length > 0 ? real : simulated
  }
}
