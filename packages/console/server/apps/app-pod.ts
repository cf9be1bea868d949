import type { GpuPod } from '@sonde/sdk/api'

/** A GPU pod, and its app. */
export interface AppPod extends GpuPod {
  readonly app: string
  /** Unique key of the pod. */
  readonly key: string
}
