import type { Workload } from '../model/schedule.ts'
import type { GpuPlace, NodeClass } from './node-class.ts'

/** A pod of the simulated node, and its devices. */
export interface PodPlace {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly app: string
  readonly service: string
  /** GPUs, or MIG instances by id; the id is empty for a whole GPU. */
  readonly devices: readonly { readonly gpu: GpuPlace; readonly instance: string }[]
}

/**
 * Pods that hold all GPUs of a node. Training: one job with two GPUs per pod. Inference: the first half prefills with
 * two GPUs per pod, the other half decodes with one GPU per pod. Each MIG instance has a notebook.
 */
export function podsOf({ gpus }: NodeClass, workload: Workload): PodPlace[] {
  const whole = gpus.filter(({ mig }) => mig === undefined)
  const half = workload === 'training' ? whole.length : whole.length >> 1
  const split = gpus.flatMap((gpu) => (gpu.mig ?? []).map((_, place) => [{ gpu, instance: String(place + 1) }]))
  const first = workload === 'training' ? ['pretrain', 'trainer'] : ['chat', 'prefill']
  return [
    ...podsNamed(first, inGroups(whole.slice(0, half), 2)),
    ...podsNamed(['chat', 'decode'], inGroups(whole.slice(half), 1)),
    ...podsNamed(['lab', 'notebook'], split),
  ]
}

function podsNamed([app = '', service = '']: readonly string[], held: readonly PodPlace['devices'][]): PodPlace[] {
  return held.map((devices, index) => {
    return { namespace: 'ml', pod: `${service}-${index}`, container: service, app, service, devices }
  })
}

function inGroups(gpus: readonly GpuPlace[], size: number): PodPlace['devices'][] {
  const groups: PodPlace['devices'][] = []
  for (let at = 0; at < gpus.length; at += size) {
    groups.push(gpus.slice(at, at + size).map((gpu) => ({ gpu, instance: '' })))
  }
  return groups
}
