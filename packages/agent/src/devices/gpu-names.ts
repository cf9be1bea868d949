import { labelOf } from '@sonde/sdk/internal'
import { hostOfFact } from './claims.ts'
import type { Devices } from './devices.ts'
import { NamesTeller, type NameTaker } from './names-teller.ts'
import { isSimulatedSeries } from './world.ts'

/** Type with the names of MIG instances. */
const INSTANCES = 'nvml_mig_info'

/** What {@link gpuNames} and {@link podNames} depend on. */
export interface NamesOf {
  readonly devices: Pick<Devices, 'version' | 'facts'>
  readonly sources: readonly NameTaker[]
  /** Name of this host. */
  readonly here: string
}

/** Sends the names of the GPUs of this node to the sources that resolve ids of devices by them. */
export function gpuNames({ devices, sources, here }: NamesOf): NamesTeller {
  const isTaker = ({ definition }: NameTaker) => definition.takesGpuNames === true
  return new NamesTeller({ devices, sources, isTaker, key: 'gpus', listed: () => listedGpus(devices, here) })
}

function listedGpus(devices: Pick<Devices, 'facts'>, here: string): object[] {
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
