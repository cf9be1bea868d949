import type { Hint, PodDetails, PodName, ProcessOfPod } from '@sonde/sdk/api'
import type { History, LatestSeries } from '@sonde/sdk/internal'

/** A reader of GPUs: a source, or an exporter. */
export interface GpuReaderState {
  readonly name: string
  /**
   * `starting`: no report yet; `reading`: it reports GPUs; `empty`: it runs, and finds no GPU; `failing`: it is there,
   * and cannot read; `off`: the scraper is switched off.
   */
  readonly state: 'starting' | 'reading' | 'empty' | 'failing' | 'off'
  /** A sentence; may be empty. */
  readonly reason: string
}

/** The readers of GPUs; undefined if they are unknown. */
export type ReaderStates = readonly GpuReaderState[] | undefined

/** A finding of a rule on a device; notices are none. */
export interface DeviceTrouble extends Pick<Hint, 'title'> {
  readonly severity: 'critical' | 'warning'
}

/**
 * The origin of answers about apps decides the advice to readers: an agent of this node, whose configuration they can
 * change, or a Prometheus-compatible server that scrapes agents or exporters.
 */
export type AnswerOrigin = 'agent' | 'prometheus'

/** The inputs of answers about apps. */
export interface AppsOrigin {
  readonly history: History
  /** Default: `agent`. */
  readonly place?: AnswerOrigin
  /** Whether the parameter `gpu_observability_enable` is on. Default: yes. */
  readonly isEnabled?: () => boolean
  /** The readers of GPUs; undefined if they are unknown. Default: unknown. */
  readonly readers?: () => ReaderStates | Promise<ReaderStates>
  /** Whether the requests of pods are read. Default: true if any pod has a request. */
  readonly readsRequests?: () => boolean
  /** Nodes and GPUs of pods, and how they were decided, by `namespacedName`. Default: unknown. */
  readonly details?: () => ReadonlyMap<string, PodDetails> | Promise<ReadonlyMap<string, PodDetails>>
  /** Names of the node whose GPUs are read. Default: the GPUs of any node may be read. */
  readonly nodes?: () => ReadonlySet<string> | undefined
  /** The worst trouble of each GPU, by its UUID. Default: unknown. */
  readonly trouble?: () => ReadonlyMap<string, DeviceTrouble>
  /** The processes of a pod, with names. Default: those of the history, without names. */
  readonly processes?: (pod: PodName) => readonly ProcessOfPod[]
  /** Why interfaces, or processes, of a pod are not known. Default: unknown. */
  readonly lackOf?: (part: 'nics' | 'processes') => string
  /** The latest values of a metric, with the reason of each absent value. Default: reasons are unknown. */
  readonly latest?: (metric: string) => Promise<readonly LatestSeries[]>
}
