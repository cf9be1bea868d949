import { GPU_FIELDS, type GpuField, type GpuGap } from '@sonde/sdk/api'
import { countOf } from '@sonde/sdk/internal'
import type { PodNumbers } from './app-pod.ts'
import { SUMMED_FIELDS } from './fields.ts'
import type { Reasons } from './reasons.ts'

/** Numbers that MIG instances lack: they are measured for a whole GPU only. */
const OF_WHOLE_GPUS: ReadonlySet<GpuField> = new Set(['gpu-util', 'gpu-power-w'])
/** Numbers that dcgm-exporter leaves out unless its counters file names them. */
const OFF_BY_DEFAULT: ReadonlySet<GpuField> = new Set(['gpu-sm-active', 'gpu-fp16-active', 'gpu-fp32-active'])

/** A pod before the reasons for its missing numbers are known. */
export type KnownPod = Omit<PodNumbers, 'app' | 'key'>

/** Known facts about missing numbers. */
export interface GapFacts {
  /** Reasons for absent numbers, as the source reports them. Default: unknown. */
  readonly reasons?: Reasons | undefined
  /** The node of the pod, if its GPUs are not read here. Default: they are. */
  readonly elsewhere?: string
  /** Why the pod does not run yet, in a word of Kubernetes. Default: nothing waits, or it is not known. */
  readonly waiting?: string
}

/** The reasons for missing numbers of a pod: each number that is null has one reason. */
export function gapsOf(pod: KnownPod, nowMs: number, facts: GapFacts = {}): GpuGap[] {
  const { reasons } = facts
  const unknown = GPU_FIELDS.filter((field) => pod.values[field] === null)
  if (unknown.length === 0) return []
  const ofAll = reasonOfAll(pod, nowMs, facts)
  const fieldsBy = Map.groupBy(unknown, (field) => ofAll ?? reasonOf(field, pod, reasons?.get(field)))
  return [...fieldsBy].map(([reason, fields]) => ({ fields, reason }))
}

/** Whether a pod requests a GPU and has no node. Its numbers are then missing for that reason only. */
export function isUnscheduled({ gpus, requested, isScheduled }: KnownPod): boolean {
  return gpus === 0 && requested !== null && isScheduled === false
}

/** The reason if no number at all is known; undefined if a number is known, or each number has its own reason. */
function reasonOfAll(pod: KnownPod, nowMs: number, { elsewhere = '', waiting = '' }: GapFacts): string | undefined {
  const { gpus, ageMs, isWarming, isScheduled, startedMs } = pod
  if (elsewhere !== '') return `it runs on ${elsewhere}, whose GPUs this agent does not read`
  if (ageMs !== null) return undefined
  if (isWarming && startedMs !== null) {
    const ageS = Math.max(0, Math.floor((nowMs - startedMs) / 1000))
    return `warming: it started ${ageS} s ago, and numbers come within 90 s`
  }
  if (isUnscheduled(pod))
    return 'it asks for a GPU and has no node: it waits to be scheduled; kubectl describe pod says why'
  if (waiting !== '') return `it does not run yet: ${waiting}; kubectl describe pod says why`
  if (gpus > 0) return undefined
  const where = isScheduled === true ? 'it has a node, and ' : ''
  return `${where}it is not known which GPU it holds; look at the exporter and device plugin of its node`
}

function reasonOf(field: GpuField, pod: KnownPod, told: string | undefined): string {
  const { gpus, instances, sharedWith, values, ageMs, deviceValues } = pod
  if (instances > 0 && OF_WHOLE_GPUS.has(field)) {
    return instances === gpus ? 'a MIG instance has none of its own' : 'some of its GPUs are MIG instances, without it'
  }
  if (deviceValues[field] !== undefined) {
    const shared = `it shares its GPU with ${countOf(sharedWith, 'other pod')}, and this is known of the whole GPU alone`
    return told === undefined ? shared : `${shared}: ${told}`
  }
  if (told !== undefined) return told
  if (ageMs === null) return 'nothing reports the GPUs that it holds; look at the exporter of their node'
  const tensor = values['gpu-tensor-active'] ?? deviceValues['gpu-tensor-active']
  if (OFF_BY_DEFAULT.has(field) && instances === 0 && tensor !== undefined) {
    return 'not reported; dcgm-exporter leaves it out unless its counters file names it, see docs/gpu.md'
  }
  if (sharedWith > 0) return `it shares its GPU with ${countOf(sharedWith, 'other pod')}, and nothing reports it`
  return SUMMED_FIELDS.has(field) && gpus > 1 ? 'not reported of all its GPUs' : 'not reported of its GPUs'
}
