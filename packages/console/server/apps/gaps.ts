import { GPU_FIELDS, type GpuField, type GpuGap, type GpuPod } from '@sonde/sdk/internal'
import { isUnscheduled } from './state.ts'

/** Numbers of a pod that are sums over its GPUs. */
const SUMS: ReadonlySet<GpuField> = new Set(['gpu-mem-used', 'gpu-mem-total', 'gpu-power-w'])
/** What MIG instances have none of: it is measured of a whole GPU. */
const OF_WHOLE_GPUS: ReadonlySet<GpuField> = new Set(['gpu-util', 'gpu-power-w'])
/** What dcgm-exporter leaves out unless its file of counters names it. */
const OFF_BY_DEFAULT: ReadonlySet<GpuField> = new Set(['gpu-sm-active', 'gpu-fp16-active', 'gpu-fp32-active'])

/** Why numbers of a pod are not known: each that is null stands under one reason. */
export function gapsOf(pod: GpuPod, nowMs: number): GpuGap[] {
  const unknown = GPU_FIELDS.filter((field) => pod.values[field] === null)
  if (unknown.length === 0) return []
  const ofAll = reasonOfAll(pod, nowMs)
  if (ofAll !== undefined) return [{ fields: unknown, reason: ofAll }]
  const fieldsBy = new Map<string, GpuField[]>()
  for (const field of unknown) {
    const reason = reasonOf(field, pod)
    const fields = fieldsBy.get(reason)
    if (fields === undefined) fieldsBy.set(reason, [field])
    else fields.push(field)
  }
  return [...fieldsBy].map(([reason, fields]) => ({ fields, reason }))
}

/** Why nothing at all is known; undefined where something is. */
function reasonOfAll(pod: GpuPod, nowMs: number): string | undefined {
  const { gpus, ageMs, isWarming, startedMs } = pod
  if (ageMs !== null) return undefined
  if (isWarming && startedMs !== null) {
    const ageS = Math.max(0, Math.floor((nowMs - startedMs) / 1000))
    return `warming: it started ${ageS} s ago, and numbers come within 90 s`
  }
  if (isUnscheduled(pod))
    return 'it asks for a GPU, and no start of it is known: it waits to be scheduled; kubectl describe pod says why'
  if (gpus === 0)
    return 'it is not known which GPU it holds; look whether it is scheduled, and at the exporter and device plugin of its node'
  return 'nothing reports the GPUs that it holds; look at the exporter of their node'
}

function reasonOf(field: GpuField, { gpus, instances, values }: GpuPod): string {
  if (instances > 0 && OF_WHOLE_GPUS.has(field)) {
    return instances === gpus ? 'a MIG instance has none of its own' : 'some of its GPUs are MIG instances, without it'
  }
  if (OFF_BY_DEFAULT.has(field) && instances === 0 && values['gpu-tensor-active'] !== null) {
    return 'not reported; dcgm-exporter leaves it out unless its counters file names it, see docs/gpu.md'
  }
  return SUMS.has(field) && gpus > 1 ? 'not reported of all its GPUs' : 'not reported of its GPUs'
}
