import type { GpuPod } from '@sonde/sdk/api'

/** A GPU pod, and its app. */
export interface AppPod extends GpuPod {
  readonly app: string
  /** Unique key of the pod. */
  readonly key: string
}

/** What is added to the numbers of a pod. */
type Added = 'gaps' | 'attribution' | 'node' | 'condition'

/** The numbers of a pod, before their reasons and its condition are known. */
export type PodNumbers = Omit<AppPod, Added>
