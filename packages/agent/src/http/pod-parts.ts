import type { PodName, ProcessOfPod } from '@sonde/sdk/api'
import type { Agent } from '../agent.ts'
import { absenceOfType, latestRecords } from '../pipeline/latest.ts'

/** The processes of a pod on GPUs, with the names of their programs. */
export function podProcesses({ recent }: Pick<Agent, 'recent'>, { namespace, name }: PodName): ProcessOfPod[] {
  return latestRecords(recent, 'gpu_process', { namespace, pod: name }).map((row) => {
    const util = numberOf(row.util_ratio)
    return {
      pid: Number(row.pid),
      name: textOf(row.process),
      container: textOf(row.container),
      uuid: textOf(row.UUID),
      instance: textOf(row.GPU_I_ID),
      memoryBytes: numberOf(row.memory_used_bytes),
      util: util === null ? null : util * 100,
    }
  })
}

/** Why interfaces, or processes, of a pod are not known, as far as the sources of the agent say it. */
export function lackOfPart({ sources, recent }: Pick<Agent, 'sources' | 'recent'>, part: 'nics' | 'processes'): string {
  const { name, entry } = SOURCES[part]
  const told = part === 'processes' ? absenceOfType(recent, 'gpu_process') : undefined
  if (told !== undefined) return told
  const source = sources.find(({ definition }) => definition.name === name)
  if (source === undefined) return `the source ${name} is not configured: ${entry}`
  if (source.state !== 'reading') return `${name} is ${source.state}: ${source.reason}`
  if (part === 'nics') return 'pod_nics finds no interface in the network namespace of this pod'
  return 'no process of this pod uses a GPU of this node'
}

/** The sources of the parts, and how they are configured. */
const SOURCES = {
  nics: { name: 'pod_nics', entry: 'data_sources: [{type: pod_nics}]' },
  processes: { name: 'nvml', entry: 'data_sources: [{type: nvml}]' },
} as const

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
