import type { History, LatestSeries } from '@sonde/sdk/internal'

/** What reads GPUs: a source, or an exporter. */
export interface GpuReader {
  readonly name: string
  /**
   * `starting`: it has not said yet; `reading`: it reports GPUs; `empty`: it runs, and sees none; `failing`: it is
   * there, and cannot read.
   */
  readonly state: 'starting' | 'reading' | 'empty' | 'failing'
  /** A sentence; empty if there is nothing to say. */
  readonly reason: string
}

/**
 * Where the answers about apps come from, and so what their readers can do: an agent of this node, whose configuration
 * they can change, or a Prometheus-compatible server that scrapes agents or exporters.
 */
export type Place = 'agent' | 'prometheus'

/** What the answers about apps are made of. */
export interface AppsOrigin {
  readonly history: History
  /** Default: `agent`. */
  readonly place?: Place
  /** What reads GPUs. Default: that is not known. */
  readonly readers?: () => readonly GpuReader[]
  /** Whether what pods ask for is read. Default: where a pod of any app asks for something. */
  readonly readsRequests?: () => boolean
  /** The latest values of a metric, with the reason of each that is absent. Default: reasons are not known. */
  readonly latest?: (metric: string) => Promise<readonly LatestSeries[]>
}
