import type { GpuPod } from '@sonde/sdk/api'

/** A GPU pod, and the app that it belongs to. */
export interface AppPod extends GpuPod {
  readonly app: string
  /** Tells the pod from all others. */
  readonly key: string
}
