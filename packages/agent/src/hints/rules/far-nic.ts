import type { Labels } from '@sonde/sdk'
import type { Inspection } from '../inspection/inspection.ts'
import { POD } from '../watch/signals.ts'
import { countMeasure } from './measure.ts'
import type { HintRule } from './rule.ts'
import { hintDeviceTitle } from './words.ts'

/** A pod that holds the GPU, with the places of the GPU and of the NIC of the pod that is closest to it. */
interface PodPlaces {
  readonly labels: Labels
  readonly isNear: boolean
  readonly gpuSocket: number
  readonly nicSocket: number
  readonly gpuNumaNode: number
  readonly nicNumaNode: number
}

/** The pods that hold a GPU now, and have a NIC. */
function podsOf(inspection: Inspection): PodPlaces[] {
  const { nowMs } = inspection.scope
  // All signals come from the same records, so their windows have the same order.
  const last = (signal: (typeof POD)[keyof typeof POD], at: number) =>
    inspection.windows(signal)[at]?.last() ?? Number.NaN
  return inspection.labels(POD.sameSocket).flatMap((labels, at): PodPlaces[] => {
    if (inspection.windows(POD.sameSocket)[at]?.isFresh(nowMs) !== true) return []
    return [
      {
        labels,
        isNear: last(POD.sameSocket, at) === 1,
        ...{ gpuSocket: last(POD.gpuSocket, at), nicSocket: last(POD.nicSocket, at) },
        ...{ gpuNumaNode: last(POD.gpuNumaNode, at), nicNumaNode: last(POD.nicNumaNode, at) },
      },
    ]
  })
}

/** Whether a GPU of the pod has a NIC of the pod on its socket. */
function hasNearNic({ labels }: PodPlaces, { scope }: Inspection): boolean {
  const isSame = (other: Labels) => other.namespace === labels.namespace && other.pod === labels.pod
  return scope.gpus.some((gpu) => podsOf(gpu).some((pod) => pod.isNear && isSame(pod.labels)))
}

/** A pod whose GPUs and NICs are on different sockets. */
export const farNicRule: HintRule = {
  name: 'far_nic',
  sees: 'A pod has its GPU on one socket and its NIC on another: their traffic passes the link between the processors.',
  severity: 'notice',
  of: 'gpu',
  neededMs: 10_000,
  uses: [POD.sameSocket, POD.gpuSocket, POD.nicSocket, POD.gpuNumaNode, POD.nicNumaNode],
  shows: [POD.sameSocket],
  limits: [
    {
      what: 'NICs of the pod on the socket of its GPU',
      value: 1,
      unit: 'at least',
      source: 'GPUDirect RDMA wants both below one root complex',
    },
  ],
  not: {},
  toldApart: [
    'a machine with one socket, also with several NUMA nodes',
    'a device whose NUMA node the firmware does not say (−1)',
    'a pod that also has a NIC on the socket of the GPU',
    'a pod with GPUs on several sockets and a NIC near one of them',
    'a pod without a NIC of its own',
  ],
  find(inspection) {
    const far = podsOf(inspection).find((pod) => !pod.isNear && !hasNearNic(pod, inspection))
    if (far === undefined) return undefined
    const { labels, gpuSocket, nicSocket, gpuNumaNode, nicNumaNode } = far
    const { namespace = '', pod = '', nic = '' } = labels
    const { name } = inspection.device
    return {
      series: { namespace, pod },
      title: `${hintDeviceTitle(inspection.device)} and the NIC of its pod are on different sockets`,
      measure: countMeasure(0, '<', 1, 'NICs on the socket of the GPU'),
      sentence: (value, limit) =>
        `${namespace}/${pod} has ${name} on socket ${gpuSocket} (NUMA node ${gpuNumaNode}) and ${nic} on socket ` +
        `${nicSocket} (NUMA node ${nicNumaNode}): ${value} NICs on the socket of the GPU, ${limit}`,
    }
  },
}
