import type { AbsentPart, AppGpuPod, PodAnswer, PodDetails, PodName, PodParts } from '@sonde/sdk/api'
import { namespacedName, type QueryRequest, turn } from '@sonde/sdk/internal'
import type { AppsOrigin } from './origin.ts'
import { partsAt } from './pod-parts.ts'
import { podMatchers, podsNow } from './pods.ts'

/** How far back an ended pod is searched, in steps. Unit: milliseconds. */
const SEARCH_MS = 86_400_000
const SEARCH_STEP_MS = 300_000
/** How exactly the end of a pod is found. Unit: milliseconds. */
const END_STEP_MS = 5000

/** All about one GPU pod: its last numbers if it has ended, and why parts of it are not known. */
export async function podAnswer(origin: AppsOrigin, name: PodName): Promise<PodAnswer> {
  const { nowMs, pods } = await podsNow(origin, { pod: name })
  const present = withoutKey(pods)
  if (present !== null)
    return { nowMs, state: 'present', pod: present, endedMs: null, ...(await partsOf(origin, name, nowMs)) }
  const endedMs = await lastSeenMs(origin, name, nowMs)
  if (endedMs === undefined) return { nowMs, state: 'unknown', pod: null, endedMs: null, ...NO_PARTS }
  const { history } = origin
  const last = await podsNow({ history }, { pod: name, atMs: endedMs })
  const { node, ...parts } = await partsAt({ history }, name, { atMs: endedMs, isEnd: true, details: new Map() })
  const pod = withoutKey(last.pods)
  return { nowMs, state: 'ended', pod: pod && { ...pod, node }, endedMs, ...parts, absent: [] }
}

const NO_PARTS: PodParts = { devices: [], nics: [], processes: [], absent: [] }

/** The parts of a pod, and why some are not known. */
async function partsOf(origin: AppsOrigin, name: PodName, atMs: number): Promise<PodParts> {
  const details = (await origin.details?.()) ?? new Map<string, PodDetails>()
  const { node: _, ...parts } = await partsAt(origin, name, { atMs, isEnd: false, details })
  const phase = details.get(namespacedName(name.namespace, name.name))?.attribution.phase ?? ''
  const reasonOf = (part: 'nics' | 'processes') => origin.lackOf?.(part) ?? REASONS[part]
  const absent: AbsentPart[] = [
    ...(phase === '' ? [{ part: 'phase' as const, reason: REASONS.phase }] : []),
    ...(parts.devices.length === 0 ? [{ part: 'devices' as const, reason: REASONS.devices }] : []),
    ...(parts.processes.length === 0 ? [{ part: 'processes' as const, reason: reasonOf('processes') }] : []),
    ...(parts.nics.length === 0 ? [{ part: 'nics' as const, reason: reasonOf('nics') }] : []),
  ]
  return { ...parts, absent }
}

/** Why parts are not known, where no agent says it. */
const REASONS: Readonly<Record<AbsentPart['part'], string>> = {
  phase: 'no source reports it: the source kubernetes does, with access to the API server',
  devices: 'no source reports a device of it',
  processes: 'the history has no series gpu_process of it: an agent exports them with export_processes',
  nics: 'the history has no series pod_nic of it: the source pod_nics reports them',
}

/** A real pod comes before a simulated pod of the same name. */
function withoutKey(pods: readonly (AppGpuPod & { readonly key: string })[]): AppGpuPod | null {
  const found = pods.find(({ isSimulated }) => !isSimulated) ?? pods[0]
  if (found === undefined) return null
  const { key: _, ...pod } = found
  return pod
}

/** When the rows of a pod ended; undefined if it had none in a day. Unit: milliseconds since the Unix epoch. */
async function lastSeenMs({ history }: AppsOrigin, pod: PodName, nowMs: number): Promise<number | undefined> {
  const lastIn = async (window: Pick<QueryRequest, 'fromMs' | 'toMs' | 'stepMs'>) => {
    const query = { metric: 'pod_gpus', function: 'last', by: undefined, aggregate: 'sum' } as const
    const { times, results } = await history.query({ ...window, queries: [{ ...query, matchers: podMatchers(pod) }] })
    let lastMs: number | undefined
    for (const { series } of results) {
      for (const { values, newestMs } of series) {
        if (turn.isOver()) await turn.next()
        const timeMs = newestMs ?? times[values.findLastIndex((value) => !Number.isNaN(value))]
        if (timeMs !== undefined) lastMs = Math.max(timeMs, lastMs ?? timeMs)
      }
    }
    return lastMs
  }
  const toMs = Math.floor(nowMs / SEARCH_STEP_MS + 1) * SEARCH_STEP_MS
  const aboutMs = await lastIn({ fromMs: toMs - SEARCH_MS, toMs, stepMs: SEARCH_STEP_MS })
  if (aboutMs === undefined) return undefined
  const around = { fromMs: aboutMs - 2 * SEARCH_STEP_MS, toMs: aboutMs + SEARCH_STEP_MS, stepMs: END_STEP_MS }
  return (await lastIn(around)) ?? aboutMs
}
