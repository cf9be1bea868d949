import type { History } from '@sonde/sdk'
import type { PodsAnswer } from '@sonde/sdk/internal'
import { gapsOf } from './gaps.ts'
import { anyAsks, podsNow } from './pods.ts'
import { appsOf, servicesBySize } from './ranking.ts'
import { type GpuReader, stateOf } from './state.ts'

/** Where pods are looked up. */
interface PodsOrigin {
  readonly history: History
  /** What reads GPUs. Default: that is not known. */
  readonly readers?: () => readonly GpuReader[]
  /** Whether what pods ask for is read. Default: where a pod of any app asks for something. */
  readonly readsRequests?: () => boolean
}

/** The GPU pods of all apps, or of one, as any history knows them, with a reason for every number that is missing. */
export async function podsAnswer({ history, readers, readsRequests }: PodsOrigin, app?: string): Promise<PodsAnswer> {
  const { nowMs, pods } = await podsNow(history, app)
  const knowsRequests = readsRequests?.() === true || (pods.length === 0 && (await anyAsks(history)))
  const isUnknown = app !== undefined && pods.length === 0
  return {
    nowMs,
    ...stateOf(app ?? 'any app', pods, readers?.(), knowsRequests),
    pods: pods.map((pod) => ({ ...pod, gaps: gapsOf(pod, nowMs) })),
    otherApps: isUnknown ? appsOf(await servicesBySize(history)).map(({ name }) => name) : [],
  }
}
