import type { GpuPod } from '../../api/apps.ts'

/** Whether a pod asks for a GPU and has not started: no exporter and no device plugin can know of it yet. */
export function isUnscheduled({ gpus, requested, startedMs }: GpuPod): boolean {
  return gpus === 0 && requested !== null && startedMs === null
}

/** What may be the reason where pods of a service have no utilisation, in sentences. */
export function missingCauses(missing: readonly string[], pods: readonly GpuPod[]): string {
  const isMissing = new Set(missing)
  const waiting = pods.filter((pod) => isMissing.has(pod.name) && isUnscheduled(pod)).map(({ name }) => name)
  const causes =
    'The exporter of their node is down, the device plugin does not say what they hold, ' +
    'or their GPU does not answer (an XID error).'
  const waits = `Of ${waiting.length} no start is known: ${waiting.length === 1 ? 'it waits' : 'they wait'} to be scheduled.`
  const said =
    waiting.length === 0 ? causes : waiting.length === missing.length ? waits : `${waits} Of the others: ${causes}`
  return `The numbers leave them out. ${said}`
}
