import type { AppCondition, GpuPod, PodCondition, PodDetails, PodName } from '@sonde/sdk/api'
import type { PodNumbers } from './app-pod.ts'
import { isUnscheduled } from './gaps.ts'
import type { DeviceTrouble } from './origin.ts'

// The order of pods and apps: the sickest first. Server, page and command use this order.

/** Pods of an app that its condition names. */
const NAMED_COUNT = 3
/** A pod may prepare its containers for so long. Unit: milliseconds. */
const PREPARING_MS = 300_000
/** Reasons of Kubernetes for containers that are being prepared. */
const PREPARING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing'])

/** What the condition of a pod is made of. */
export interface ConditionFacts {
  readonly nowMs: number
  readonly details: PodDetails | undefined
  /** The worst trouble of each GPU, by its UUID. */
  readonly trouble: ReadonlyMap<string, DeviceTrouble>
  /** Whether its GPUs did nothing for {@link IDLE_MINUTES}. */
  readonly isIdle: boolean
  /** Whether it runs on a node whose GPUs are not read here. */
  readonly isElsewhere: boolean
}

/** GPUs that do nothing for so long are idle. */
export const IDLE_MINUTES = 10

/** Rank of pods and apps without trouble. */
export const WELL_RANK = 9

/** The first that applies is the condition of a pod. */
export function conditionOf(
  pod: PodNumbers,
  { nowMs, details, trouble, isIdle, isElsewhere }: ConditionFacts,
): PodCondition {
  const { phase = '', waiting = '' } = details?.attribution ?? {}
  const hint = worstOf(details, trouble)
  const isYoung = pod.isWarming || (pod.startedMs !== null && nowMs - pod.startedMs < PREPARING_MS)
  const isPreparing = PREPARING.has(waiting)
  if (hint?.severity === 'critical') return { rank: 0, tone: 'critical', words: hint.title }
  if (phase === 'Failed') return { rank: 1, tone: 'critical', words: 'failed' }
  if (waiting === 'Unschedulable' || isUnscheduled(pod)) return { rank: 2, tone: 'warning', words: 'not scheduled' }
  if (waiting !== '' && !(isPreparing && isYoung)) return { rank: 2, tone: 'warning', words: waiting }
  if (hint !== undefined) return { rank: 3, tone: 'warning', words: hint.title }
  if (isPreparing) return { rank: 6, tone: 'info', words: `starting: ${waiting}` }
  if (pod.isWarming) return { rank: 6, tone: 'info', words: 'warming' }
  if (phase === 'Succeeded') return { rank: WELL_RANK, tone: 'ok', words: 'finished' }
  if (isElsewhere) return { rank: 7, tone: 'absent', words: 'on another node' }
  if (isWithoutUse(pod)) return { rank: 4, tone: 'warning', words: pod.gpus === 0 ? 'GPU not known' : 'no utilisation' }
  if (isIdle) return { rank: 5, tone: 'info', words: `idle for ${IDLE_MINUTES} min` }
  if (utilisationOf(pod) === 0) return { rank: WELL_RANK, tone: 'ok', words: 'idle now' }
  return { rank: WELL_RANK, tone: 'ok', words: pod.gpus > 0 && pod.gpus === pod.instances ? 'MIG' : 'ok' }
}

/** Whether a pod has no utilisation but could have it. MIG instances never have utilisation. */
function isWithoutUse(pod: PodNumbers): boolean {
  return utilisationOf(pod) === undefined && (pod.gpus === 0 || pod.gpus > pod.instances)
}

/** The utilisation of a pod, else that of the GPUs that it shares. */
function utilisationOf({ values, deviceValues }: PodNumbers): number | undefined {
  return values['gpu-util'] ?? deviceValues['gpu-util']
}

/** The worst trouble of the GPUs of a pod; undefined if there is none. */
function worstOf(
  details: PodDetails | undefined,
  trouble: ReadonlyMap<string, DeviceTrouble>,
): DeviceTrouble | undefined {
  const found = details?.gpus.flatMap(({ uuid }) => trouble.get(uuid) ?? []) ?? []
  return found.find(({ severity }) => severity === 'critical') ?? found[0]
}

type RankedPod = Pick<GpuPod, 'namespace' | 'name' | 'condition'>

/** Order of pods: the sickest first, then by namespace and name. */
export function bySickness(a: RankedPod, b: RankedPod): number {
  return a.condition.rank - b.condition.rank || compare(a.namespace, b.namespace) || compare(a.name, b.name)
}

/** The condition of an app, with its place in the order. */
export interface RankedApp {
  readonly rank: number
  readonly condition: AppCondition
}

/**
 * The condition of an app: that of its sickest pods, and of equally sick pods the most frequent.
 *
 * @param pods Its pods, the sickest first.
 */
export function appConditionOf(pods: readonly RankedPod[]): RankedApp {
  const [first] = pods
  if (first === undefined) {
    const condition = { tone: 'absent', words: 'its pods are not known yet', count: 0, pods: [] } as const
    return { rank: WELL_RANK, condition }
  }
  const { rank } = first.condition
  if (rank === WELL_RANK)
    return { rank, condition: { tone: 'ok', words: wellWords(pods), count: pods.length, pods: [] } }
  const sickest = pods.filter(({ condition }) => condition.rank === rank)
  const [words = '', some = []] =
    [...Map.groupBy(sickest, ({ condition }) => condition.words)].sort(([, a], [, b]) => b.length - a.length)[0] ?? []
  return {
    rank,
    condition: {
      tone: first.condition.tone,
      words: pods.length === 1 ? words : `${some.length} of ${pods.length} pods: ${words}`,
      count: some.length,
      pods: podNamesOf(some),
    },
  }
}

/** Names of some of the pods. */
export function podNamesOf(pods: readonly Pick<GpuPod, 'namespace' | 'name'>[]): PodName[] {
  return pods.slice(0, NAMED_COUNT).map(({ namespace, name }) => ({ namespace, name }))
}

function wellWords(pods: readonly RankedPod[]): string {
  const words = new Set(pods.map(({ condition }) => condition.words))
  const [only = 'ok'] = words
  return words.size === 1 ? only : 'ok'
}

/** Order of apps: the sickest first; of equally sick apps those with more such pods, then by name. */
export function byAppSickness<App extends { readonly name: string; readonly ranked: RankedApp }>(
  a: App,
  b: App,
): number {
  const [left, right] = [a.ranked, b.ranked]
  const counts = left.rank === WELL_RANK ? 0 : right.condition.count - left.condition.count
  return left.rank - right.rank || counts || compare(a.name, b.name)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
