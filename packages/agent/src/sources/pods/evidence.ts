/** How sure an attribution of a device to a pod is. `doubtful`: the facts contradict each other or are incomplete. */
export type Confidence = 'certain' | 'likely' | 'doubtful'

/** A way by which a source knows that a container holds a device; its text stands in the field `via` of records. */
export interface Evidence {
  readonly via: string
  readonly confidence: Confidence
  /**
   * How it counts beside others. `decides`: it lists all devices of pods of its node; `adds`: what it reports is true,
   * and may be a part; `yields`: it counts only where nothing decides.
   */
  readonly weight: 'decides' | 'adds' | 'yields'
}

/** The kubelet has allocated the device to the container. */
export const OF_KUBELET: Evidence = { via: 'kubelet', confidence: 'certain', weight: 'decides' }
/** The kubelet has prepared a claim with the device for the container (dynamic resource allocation). */
export const OF_CLAIM: Evidence = { via: 'kubelet, resource claim', confidence: 'certain', weight: 'decides' }
/** The kernel has put a process that uses the device into the cgroup of the container. */
export const OF_CGROUP: Evidence = { via: 'cgroup of the process', confidence: 'certain', weight: 'adds' }
/** A process that uses the device has the job in its environment, which it can choose itself. */
export const OF_ENVIRONMENT: Evidence = {
  ...{ via: 'environment of the process', confidence: 'doubtful', weight: 'adds' },
}
/** A batch system wrote the job into a mapping file of the device. */
export const OF_JOB_FILES: Evidence = { via: 'job mapping files', confidence: 'likely', weight: 'adds' }
/** An exporter read the job from such a file. */
export const OF_JOB_LABEL: Evidence = { via: 'hpc_job of dcgm-exporter', confidence: 'likely', weight: 'adds' }
/** An exporter wrote the pod into its labels. It names one pod of several on a shared device, and may be late. */
export const OF_EXPORTER: Evidence = { via: 'scrape labels of dcgm-exporter', confidence: 'likely', weight: 'yields' }
/** The simulator made it. */
export const OF_SIMULATOR: Evidence = { via: 'simulated', confidence: 'certain', weight: 'adds' }

const UNKNOWN: Evidence = { via: '', confidence: 'doubtful', weight: 'yields' }
/** The best first. */
const ALL = [
  ...[OF_KUBELET, OF_CLAIM, OF_CGROUP, OF_ENVIRONMENT, OF_JOB_FILES, OF_JOB_LABEL],
  ...[OF_SIMULATOR, OF_EXPORTER, UNKNOWN],
]
const RANKS = new Map(ALL.map((evidence, rank) => [evidence.via, rank]))

/** The evidence that a record names in its field `via`. */
export function evidenceVia(via: string): Evidence {
  return ALL[RANKS.get(via) ?? ALL.length - 1] ?? UNKNOWN
}

/** Rank of evidence; the lowest is the best. */
export function rankOf({ via }: Evidence): number {
  return RANKS.get(via) ?? ALL.length
}

/** Origins of the app and service of a pod, the best first; their texts stand in the field `via` of `pod_info`. */
export const INFO_ORIGINS: readonly string[] = [
  'API server',
  'kube-state-metrics',
  ...[OF_EXPORTER, OF_SIMULATOR, OF_JOB_FILES, OF_JOB_LABEL, OF_CGROUP, OF_ENVIRONMENT, OF_KUBELET].map(
    ({ via }) => via,
  ),
]
