import { GPU_FIELDS, type GpuField } from '@sonde/sdk/api'
import { turn, UNTOLD_ABSENCE } from '@sonde/sdk/internal'
import type { PodNumbers } from './app-pod.ts'
import { podMetric } from './fields.ts'
import type { AppsOrigin } from './origin.ts'
import { sharedPodKey } from './shared-gpus.ts'

/** Reasons for absent numbers of a pod, in the words of their source. */
export type Reasons = ReadonlyMap<GpuField, string>

/** Reasons for absent numbers of pods, by key of the pod. A number without a reported reason is left out. */
export async function reasonsOf(
  pods: readonly PodNumbers[],
  latest: AppsOrigin['latest'],
): Promise<ReadonlyMap<string, Reasons>> {
  const reasons = new Map<string, Map<GpuField, string>>()
  if (latest === undefined) return reasons
  const isLacked = (field: GpuField) => pods.some(({ values }) => values[field] === null)
  for (const field of GPU_FIELDS.filter(isLacked)) {
    for (const { labels, absent, value } of await latest(podMetric(field))) {
      if (turn.isOver()) await turn.next()
      if (value !== null || absent === '' || absent === UNTOLD_ABSENCE) continue
      const key = sharedPodKey(labels)
      const ofPod = reasons.get(key) ?? new Map<GpuField, string>()
      reasons.set(key, ofPod.set(field, absent))
    }
  }
  return reasons
}
