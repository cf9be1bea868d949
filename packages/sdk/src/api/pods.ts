import type { Labels } from '../schema/series.ts'
import type { AppGpuPod, GpuOfPod, PodName } from './apps.ts'

// The answer of `GET /api/v1/pods/:namespace/:pod`, for servers and the page.

/** A GPU, or MIG instance, of a pod, and who else holds it. */
export interface DeviceOfPod extends GpuOfPod {
  readonly containers: readonly string[]
  readonly sharedWith: readonly PodName[]
}

/** A network interface of a pod, or a function of a NIC. Texts are empty if they are not known, or there is none. */
export interface NicOfPod {
  /** Name of the interface in the pod; empty if only the kubelet reports the function. */
  readonly interface: string
  /** Resource of Kubernetes that the kubelet allocated it as. */
  readonly resource: string
  readonly driver: string
  readonly pciAddress: string
  /** RDMA device of the function, as the host names it. */
  readonly rdmaDevice: string
  /** PCI address of the adapter if the function is a part of it (VF). */
  readonly physicalFunction: string
  /** Interface of the host that carries its traffic. */
  readonly hostInterface: string
  /** Why no RDMA counters are those of this pod alone; empty if those of `rdmaLabels` are. */
  readonly noCounters: string
  /** Labels of the RDMA counters of this pod alone; null if there are none. */
  readonly rdmaLabels: Labels | null
}

/** A process of a pod on a GPU. */
export interface ProcessOfPod {
  /** As the agent sees it. */
  readonly pid: number
  /** Name of the program; empty if it is not known. */
  readonly name: string
  readonly container: string
  readonly uuid: string
  /** Id of the MIG instance; empty for a whole GPU. */
  readonly instance: string
  /** Unit: bytes; null if it is not known. */
  readonly memoryBytes: number | null
  /** Share of time in which its kernels ran. Unit: percent; null if it is not known. */
  readonly util: number | null
}

/** What a pod has, from the records or series about it. */
export interface PodParts {
  readonly devices: readonly DeviceOfPod[]
  readonly nics: readonly NicOfPod[]
  readonly processes: readonly ProcessOfPod[]
  /** Parts of which nothing is known, with the reason as a sentence without a full stop. */
  readonly absent: readonly AbsentPart[]
}

/** A part of a pod of which nothing is known. */
export interface AbsentPart {
  readonly part: 'phase' | 'devices' | 'nics' | 'processes'
  readonly reason: string
}

/** What `GET /api/v1/pods/:namespace/:pod` answers. */
export interface PodAnswer extends PodParts {
  readonly nowMs: number
  /** `ended`: it was there in the last 24 hours; `unknown`: no GPU pod of this name was. */
  readonly state: 'present' | 'ended' | 'unknown'
  /** Null if it is unknown. Of an ended pod its last numbers. */
  readonly pod: AppGpuPod | null
  /** When it was seen last, if it ended. Unit: milliseconds since the Unix epoch. */
  readonly endedMs: number | null
}
