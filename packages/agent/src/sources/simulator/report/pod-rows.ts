import { hostname } from 'node:os'
import { OF_SIMULATOR } from '../../pods/evidence.ts'
import { podDeviceType, podInfoType } from '../../pods/type.ts'
import type { SourceContext } from '../../source.ts'
import { type PodPlace, podsOf } from '../classes/pods.ts'
import type { Simulation } from '../simulation.ts'
import { msOfSeconds } from '../time.ts'
import { gpuLabels } from './nvml-gpu-info.ts'
import { ReportRows } from './report-rows.ts'

const { via: VIA } = OF_SIMULATOR
const NO_LABELS = { app_label: '', service_label: '', phase: 'Running', waiting: '', labels: '', uid: '' }
const NO_PLUGIN = { resource: '', device_id: '', doubt: '' }

/** Records of the pods that hold the GPUs. They exist since the epoch of the simulation. */
export class PodRows {
  readonly #tables: readonly ReportRows<void>[]

  constructor({ node, seed, workload }: Simulation, context: SourceContext) {
    const pods = podsOf(node, workload)
    const info = pods.map(({ namespace, pod, app, service, devices }) => {
      const started = msOfSeconds(0) / 1000
      const texts = { app, service, node_name: hostname(), via: VIA, ...NO_LABELS }
      return {
        labels: { namespace, pod },
        facts: { ...texts, start_time_seconds: started, requested_gpus: devices.length },
      }
    })
    const held = pods.flatMap((pod) =>
      pod.devices.map((device) => ({
        labels: labelsOf(seed, pod, device),
        facts: { via: VIA, ...NO_PLUGIN, present: 1 },
      })),
    )
    this.#tables = [new ReportRows(context, podInfoType, {}, info), new ReportRows(context, podDeviceType, {}, held)]
  }

  /** Reports every pod and its devices. */
  sample(time: bigint): void {
    for (const rows of this.#tables) rows.report(time)
  }
}

function labelsOf(
  seed: number,
  { namespace, pod, container }: PodPlace,
  { gpu, instance }: PodPlace['devices'][number],
) {
  const { UUID, Hostname } = gpuLabels(seed, gpu)
  return { namespace, pod, container, UUID, GPU_I_ID: instance, Hostname }
}
