/** Names of the nine numbers of GPUs, in the order in which they are shown. */
export const GPU_FIELDS = [
  'gpu-util',
  'gpu-mem-used',
  'gpu-mem-total',
  'gpu-tensor-active',
  'gpu-sm-active',
  'gpu-dram-active',
  'gpu-fp16-active',
  'gpu-fp32-active',
  'gpu-power-w',
] as const

/**
 * One of the nine. Utilisation and the active shares are percent, memory is bytes, power is watts.
 */
export type GpuField = (typeof GPU_FIELDS)[number]

/** A number over the pods of a service that have it, at the latest sample. */
export interface GpuNumber {
  readonly avg: number
  readonly min: number
  readonly max: number
  /** Pods that have it. */
  readonly count: number
}

/** How well something is: an icon, a colour and words. `absent`: it is not known. */
export interface Condition {
  readonly tone: 'critical' | 'warning' | 'info' | 'ok' | 'absent'
  /** A few words, such as `ImagePullBackOff` or `no utilisation`; never empty. */
  readonly words: string
}

/** The condition of a pod, with its place in the order of pods: 0 is the sickest. */
export interface PodCondition extends Condition {
  readonly rank: number
}

/** Name of a pod. */
export interface PodName {
  readonly namespace: string
  readonly name: string
}

/** The condition of an app: that of its sickest pods. */
export interface AppCondition extends Condition {
  /** How many pods have it. */
  readonly count: number
  /** Some of these pods, by name: at most three. Empty if the app is well. */
  readonly pods: readonly PodName[]
}

/** An app with GPU pods. */
export interface AppSummary {
  readonly name: string
  readonly condition: AppCondition
  /** Namespaces of its pods, sorted. */
  readonly namespaces: readonly string[]
  /** Nodes of its pods, sorted; pods whose node is unknown are left out. */
  readonly nodes: readonly string[]
  /** Its pods by condition, the sickest first: at most three. */
  readonly podNames: readonly PodName[]
  readonly services: number
  readonly pods: number
  /** GPUs, or MIG instances, that its pods hold. */
  readonly gpus: number
  readonly util: GpuNumber | null
  /** Power of its GPUs, each counted once. */
  readonly powerW: number | null
  /** GPUs, or MIG instances, among them that several pods hold. */
  readonly sharedGpus: number
}

/** What the GPUs of some pods are and do together: each GPU counts once, however many of the pods hold it. */
export interface GpuTotals {
  /** GPUs, or MIG instances. */
  readonly gpus: number
  /** GPUs among these that several pods share, of any app. */
  readonly sharedGpus: number
  /** Null if it is not known of any. */
  readonly memoryUsedBytes: GpuSum | null
  readonly powerW: GpuSum | null
}

/** A sum over GPUs, each once. The power of a GPU that MIG splits is that of the whole board. */
export interface GpuSum {
  readonly sum: number
  /** Pods whose GPUs are counted. */
  readonly pods: number
  /** GPUs in it that count as a whole, though pods share them, or MIG splits them for pods. */
  readonly wholeGpus: number
}

/** What `GET /api/v1/apps` answers. */
export interface AppsAnswer {
  readonly nowMs: number
  /** The sickest first. */
  readonly apps: readonly AppSummary[]
  /** Over all apps, each GPU once. */
  readonly total: Pick<AppSummary, 'pods' | 'gpus' | 'sharedGpus' | 'powerW'>
  /** `ready` if there is an app, else why there is none. */
  readonly state: AppState
  /** What is the case; empty if the state is `ready`. */
  readonly summary: string
  /** What to do about it, a sentence each. */
  readonly advice: readonly string[]
}

/**
 * - `ready`: there are numbers.
 * - `no_source`: no source of GPUs is configured.
 * - `disabled`: the source of GPUs is switched off, or cannot read.
 * - `no_node`: the source of GPUs finds no GPU.
 * - `no_pods`: GPUs are read, and no pod of the app asks for one.
 * - `warming`: pods are there, for less than 90 s, and no number yet.
 * - `late`: the same for more than 90 s: something on the way is broken.
 */
export type AppState = 'ready' | 'no_source' | 'disabled' | 'no_node' | 'no_pods' | 'warming' | 'late'

/** One GPU pod. */
export interface GpuPod {
  readonly namespace: string
  readonly name: string
  readonly service: string
  /** Name of its node; empty if it has none, or it is unknown. */
  readonly node: string
  readonly condition: PodCondition
  /** Number of its GPUs or MIG instances; 0 if it requests some and none is known. */
  readonly gpus: number
  /** MIG instances among them, which have no utilisation and no power of their own. */
  readonly instances: number
  /** Other pods that hold the same GPU, or MIG instance: the most of any of its own. */
  readonly sharedWith: number
  /** GPUs that it asks for; null if that is not known. */
  readonly requested: number | null
  /** Whether it has a node; null if that is not known. */
  readonly isScheduled: boolean | null
  /** Started less than 90 s ago. */
  readonly isWarming: boolean
  /** When it started; null if that is not known. Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number | null
  /**
   * Age of the oldest GPU sample behind the numbers, when they were made; null if there is none. Unit: milliseconds.
   */
  readonly ageMs: number | null
  /** Of the pod itself; null if it is not known. */
  readonly values: Readonly<Record<GpuField, number | null>>
  /**
   * Numbers of whole GPUs that the pod shares with other pods: numbers of the devices, not of the pod. Numbers that the
   * pod has itself are left out.
   */
  readonly deviceValues: Readonly<Partial<Record<GpuField, number>>>
  readonly isSimulated: boolean
  /** Of every number that is not known of the pod, why; each number stands in one of them. */
  readonly gaps: readonly GpuGap[]
  /** How its app and its GPUs were decided; null if that is not known, as in a Prometheus. */
  readonly attribution: GpuAttribution | null
}

/** How the app of a pod and the GPUs that it holds were decided. */
export interface GpuAttribution {
  /**
   * How sure it is that the pod holds its GPUs: `certain`: the kubelet gave them to it; `likely`: an exporter says so;
   * `doubtful`: a source contradicts itself, or names a GPU that no other source knows. Null if it holds none.
   */
  readonly confidence: 'certain' | 'likely' | 'doubtful' | null
  /** Origins of this fact, such as `kubelet`. */
  readonly from: readonly string[]
  /** Label of the pod that named its app, as Kubernetes spells it; empty if none did. */
  readonly appLabel: string
  readonly serviceLabel: string
  /** The source of the labels, such as `API server`; empty if no source has them. */
  readonly labelsFrom: string
  /** Phase of the pod, and why it does not run yet, in words of Kubernetes; empty if unknown. */
  readonly phase: string
  readonly waiting: string
  /** Contradictions and gaps, as sentences without a full stop. */
  readonly notes: readonly string[]
}

/** A GPU, or MIG instance, that a pod holds, and how this is known. */
export interface GpuOfPod {
  readonly host: string
  readonly uuid: string
  /** Id of the MIG instance; empty for a whole GPU. */
  readonly instance: string
  /** Origin of the fact, such as `kubelet`; empty if it is not known. */
  readonly via: string
  readonly confidence: GpuAttribution['confidence']
  /** Why the origin contradicts itself or is incomplete; empty if it does not. */
  readonly doubt: string
  /** Resource of Kubernetes, or driver of the claim; empty if it is not known. */
  readonly resource: string
}

/** Facts of a pod beside its numbers. */
export interface PodDetails {
  /** Name of its node; empty if it has none, or it is unknown. */
  readonly node: string
  readonly gpus: readonly GpuOfPod[]
  readonly attribution: GpuAttribution
}

/** Why some numbers of a pod are not known. */
export interface GpuGap {
  readonly fields: readonly GpuField[]
  /** The reason as a sentence without a full stop. */
  readonly reason: string
}

/** A GPU pod of any app. */
export interface AppGpuPod extends GpuPod {
  readonly app: string
}

/** The answer of `GET /api/v1/pods`: the GPU pods of all apps, or of one. */
export interface PodsAnswer {
  readonly nowMs: number
  readonly state: AppState
  /** Sentences: what the state is, and what to do next. */
  readonly summary: string
  readonly advice: readonly string[]
  readonly pods: readonly AppGpuPod[]
  /** Over these pods, each GPU once. */
  readonly totals: GpuTotals
  /** Names of the apps with GPU pods, if the requested app has none; else empty. */
  readonly otherApps: readonly string[]
}

/** Pods of a service that ask for GPUs. */
export interface ExpectedPods {
  readonly pods: number
  /** GPUs, or MIG instances, that they ask for. */
  readonly gpus: number
  /** Pods with at least one known GPU. */
  readonly seen: number
  /** Names of the others. */
  readonly missing: readonly string[]
}

/** One service of an app. */
export interface GpuService {
  readonly name: string
  readonly pods: number
  /** GPUs, or MIG instances, that its pods hold: each once. */
  readonly gpus: number
  /** Each over the pods that have it; null if none has. */
  readonly values: Readonly<Record<GpuField, GpuNumber | null>>
  /**
   * Each over the GPUs that pods of it share, with others or among themselves: numbers of these devices, each once.
   * Left out where pods have values of their own, or no GPU is shared.
   */
  readonly deviceValues: Readonly<Partial<Record<GpuField, GpuNumber>>>
  /** Null if it is not known which pods ask for GPUs. */
  readonly expected: ExpectedPods | null
  /** Pods that started less than 90 s ago. */
  readonly warming: readonly string[]
  /** Pods that did not report, and whose GPUs have no known utilisation; pods with only MIG instances are left out. */
  readonly missing: readonly string[]
  /** Whether over a quarter of the pods that are not warming, and do not hold MIG instances alone, are missing. */
  readonly isPartial: boolean
}

/** The answer of `GET /api/v1/apps/:app/gpu`: all data of the page except its charts. */
export interface AppGpuAnswer {
  readonly nowMs: number
  readonly app: string
  readonly state: AppState
  /** Sentences: what the state is, and what to do next. */
  readonly summary: string
  readonly advice: readonly string[]
  readonly services: readonly GpuService[]
  /** Smaller services, and their pods, that a request for the largest services leaves out. */
  readonly leftOut: { readonly services: number; readonly pods: number }
  readonly pods: readonly GpuPod[]
  /** Over the pods of the answer, each GPU once. */
  readonly totals: GpuTotals
  /** Whether requests of pods for GPUs are known; if not, a missing pod cannot be recognised. */
  readonly knowsRequests: boolean
  /** Distance of the samples. Unit: milliseconds; 0 if it is not known. */
  readonly intervalMs: number
}

/** One number over time. Every list has one entry for each time; null if it is unknown. */
export interface GpuSeries {
  readonly name: GpuField
  readonly avg: readonly (number | null)[]
  readonly min: readonly (number | null)[]
  readonly max: readonly (number | null)[]
  /** Pods behind each. */
  readonly count: readonly (number | null)[]
}

/** What `GET /api/v1/apps/:app/metrics-by-service` answers. Times in milliseconds since the Unix epoch. */
export interface AppMetricsAnswer {
  readonly app: string
  readonly startMs: number
  readonly endMs: number
  readonly periodMs: number
  readonly times: readonly number[]
  /** In the order of the request; one without data has no series. */
  readonly services: readonly { readonly name: string; readonly metrics: readonly GpuSeries[] }[]
}

/** One of the list that `GET /api/v1/apps/:app/services` answers. Numbers that are not known are left out. */
export interface AppService extends Readonly<Partial<Record<GpuField, number>>> {
  readonly name: string
  /** GPUs, or MIG instances, that its pods hold: each once. */
  readonly gpu: number
  readonly pods: number
  readonly statistics: Readonly<Partial<Record<GpuField, GpuNumber>>>
  readonly deviceValues: GpuService['deviceValues']
  readonly warming: readonly string[]
  readonly missing: readonly string[]
}

/** One pod of the lists that `GET /api/v1/apps/:app/processes` answers. Numbers that are not known are left out. */
export interface AppProcess extends Readonly<Partial<Record<GpuField, number>>> {
  /** Name of the pod. */
  readonly id: string
  readonly namespace: string
  readonly service: string
  /** GPUs, or MIG instances, that it holds. */
  readonly gpu: number
  readonly sharedWith: number
  readonly status: 'warming' | 'running'
  /** ISO 8601; left out if it is not known. */
  readonly started?: string
  /** Left out if there is no sample. Unit: milliseconds. */
  readonly sampleAgeMs?: number
  readonly deviceValues: GpuPod['deviceValues']
}
