import { type Batch, countDrop, type Sink, type Source, sinkStats, wallNs } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { GpuValues, isInstance } from './gpu-values.ts'
import { PodTable } from './pod-table.ts'
import { type PodRow, podFields, podRow, type ServiceRows, serviceFields, servicesOf } from './rows.ts'
import { appGpuType, podGpuType } from './type.ts'

/** Records of one sample come in several batches: rows are made when none came for this long. Unit: milliseconds. */
const SETTLED_MS = 100
const SWEEP_EVERY_MS = 60_000

/** Options of {@link PodGpus}. */
export interface PodGpusOptions {
  /** Name of this host. */
  readonly host: string
  /** Takes the batches of rows. */
  readonly emit: (batch: Batch) => void
}

/**
 * Joins what GPUs do with the pods that hold them: a sink of both, and the source of a row a pod (`pod_gpu`) and a row
 * a service (`app_gpu`) after each sample of GPUs. Costs nothing where no pod is known. It has no clock: time comes
 * with batches and with `evaluate`.
 */
export class PodGpus implements Sink {
  readonly name = 'pods'
  readonly stats = sinkStats()
  readonly #gpus: GpuValues
  readonly #pods: PodTable
  readonly #emit: (batch: Batch) => void
  /** Rows of simulated pods are told as such: a source a set of constant labels. */
  readonly #sources = new Map<string, Source>()
  #arrivedMs = Number.NEGATIVE_INFINITY
  #rowsMs = Number.NEGATIVE_INFINITY
  #sweptMs = Number.NEGATIVE_INFINITY
  #knowsPods = false
  #closed = false

  constructor({ host, emit }: PodGpusOptions) {
    this.#gpus = new GpuValues(host)
    this.#pods = new PodTable(host)
    this.#emit = emit
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // Rows are made by the next evaluation: there is nothing to wait for.
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  /** Makes the rows of a sample that is complete. `nowMs` is on the clock of `arrivedMs` of batches. */
  evaluate(nowMs: number): void {
    if (!this.#knowsPods || this.#closed) return
    if (this.#rowsMs >= this.#arrivedMs || nowMs - this.#arrivedMs < SETTLED_MS) return
    this.#rowsMs = nowMs
    const pods = this.#pods.at(nowMs)
    this.#knowsPods = pods.length > 0
    const rows = pods.map((pod) => podRow(pod, (device) => this.#gpus.now(device, nowMs)))
    const time = wallNs()
    for (const row of rows) this.#reportPod(row, time)
    for (const service of servicesOf(rows)) this.#reportService(service, time)
    for (const source of this.#sources.values()) source.flush()
    if (nowMs - this.#sweptMs < SWEEP_EVERY_MS) return
    this.#sweptMs = nowMs
    this.#gpus.sweep(nowMs)
  }

  #take(batch: Batch): number {
    // What an application reports is not known to be so.
    if (batch.origin !== 'own') return 0
    const ofGpus = this.#gpus.take(batch)
    const ofPods = this.#pods.take(batch)
    if (ofGpus === undefined && ofPods === undefined) return 0
    this.#arrivedMs = batch.arrivedMs
    if (ofPods !== undefined) this.#knowsPods = true
    countDrop(this.stats, 'gpu_limit', ofGpus ?? 0)
    countDrop(this.stats, 'pod_limit', ofPods ?? 0)
    return (ofGpus ?? 0) + (ofPods ?? 0)
  }

  #reportPod(row: PodRow, time: bigint): void {
    const { app, service, namespace, pod, devices, gpusRequested, startedS } = row.pod
    this.#sourceOf(row).report(podGpuType, {
      ...{ time, app, service, namespace, pod, count: devices.size, instances: instancesOf(row) },
      ...podFields(row),
      ...(gpusRequested === undefined ? {} : { requested: gpusRequested }),
      ...(startedS === undefined ? {} : { started_seconds: startedS }),
      ...(row.ageMs === undefined ? {} : { sample_age_seconds: row.ageMs / 1000 }),
    })
  }

  #reportService(service: ServiceRows, time: bigint): void {
    const [first] = service.rows
    if (first === undefined) return
    const { app, service: name } = service
    this.#sourceOf(first).report(appGpuType, { time, app, service: name, ...serviceFields(service) })
  }

  #sourceOf({ pod: { source } }: PodRow): Source {
    const { simulated } = source.labels
    const key = simulated ?? ''
    let known = this.#sources.get(key)
    if (known === undefined) {
      const labels: Record<string, string> = simulated === undefined ? {} : { simulated }
      known = createOwnSource({ id: 'pods', labels, emit: this.#emit })
      this.#sources.set(key, known)
    }
    return known
  }
}

function instancesOf({ pod: { devices } }: PodRow): number {
  let count = 0
  for (const device of devices.keys()) if (isInstance(device)) count++
  return count
}
