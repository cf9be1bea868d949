import { type Batch, countDrop, type Sink, sinkStats } from '@sonde/sdk'
import type { PodDetails } from '@sonde/sdk/api'
import { namespacedName, Periods, turn } from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { attributionOf, heldGpu, refutersOf } from './attribution.ts'
import type { PodBase } from './fields.ts'
import { GpuValues, partsOfKey } from './gpu-values.ts'
import { type DevicePlaces, NO_PLACES, nearestNic } from './nearest-nic.ts'
import { type PodNic, PodNics, podNicsKey } from './pod-nics.ts'
import { type Pod, PodTable } from './pod-table.ts'
import { ReportedRows } from './reported-rows.ts'
import { lackingOf, type PodRow, podRow, servicesOf } from './rows.ts'
import { ShareReasons } from './share-reasons.ts'
import { holdersOf, sharedDevices } from './shares.ts'

/** Records of one sample come in several batches: rows are made when none came for this long. Unit: milliseconds. */
const SETTLED_MS = 100
/** Where batches come without a pause, rows are made so long after the first. Unit: milliseconds. */
const WAIT_MAX_MS = 1000
/** Period of the search for pods without reports. Unit: milliseconds. */
const FORGET_EVERY_MS = 1000
const SWEEP_EVERY_MS = 60_000
/** Steps between two looks at the clock: an exporter of a cluster tells of thousands of pods. */
const STEPS_A_LOOK = 16

/** Options of {@link PodGpus}. */
export interface PodGpusOptions {
  /** Name of this host. */
  readonly host: string
  /** Takes the batches of rows. */
  readonly emit: (batch: Batch) => void
  /** Where devices are plugged in. Default: no place is known. */
  readonly places?: DevicePlaces
  /** Called with all pods after each sample, and when one is gone. Default: nothing is called. */
  readonly onPods?: (pods: readonly Pod[]) => void
  /** Called where rows cannot be made, in a later turn than that of `evaluate`. */
  readonly failed: (error: unknown) => void
  /** Whether work has had its share of this turn. Default: that of the thread. */
  readonly isTurnOver?: () => boolean
}

/**
 * Joins what GPUs do with the pods that hold them: a sink of both, and the source of a row a pod (`pod_gpu`) and a row
 * a service (`app_gpu`) after each sample of GPUs. Costs nothing where no pod is known. It has no clock: time comes
 * with batches and with `evaluate`.
 */
export class PodGpus implements Sink {
  readonly name = 'pods'
  readonly stats = sinkStats()
  readonly #periods = new Periods()
  readonly #gpus: GpuValues
  readonly #pods: PodTable
  readonly #rows: ReportedRows
  readonly #shareReasons: ShareReasons
  readonly #nics: PodNics
  readonly #places: DevicePlaces
  readonly #failed: (error: unknown) => void
  readonly #onPods: (pods: readonly Pod[]) => void
  readonly #isTurnOver: () => boolean
  /** Arrival of the first batch without a row; undefined if there is none. */
  #waitingMs: number | undefined
  #arrivedMs = Number.NEGATIVE_INFINITY
  #forgotMs = Number.NEGATIVE_INFINITY
  #sweptMs = Number.NEGATIVE_INFINITY
  #knowsPods = false
  /** Rows of a sample are being made. */
  #isMaking = false
  #closed = false

  constructor(options: PodGpusOptions) {
    const {
      host,
      emit,
      failed,
      places = NO_PLACES,
      onPods = () => undefined,
      isTurnOver = () => turn.isOver(),
    } = options
    this.#isTurnOver = isTurnOver
    this.#gpus = new GpuValues(host, this.#periods)
    this.#pods = new PodTable(host, this.#periods)
    this.#rows = new ReportedRows(emit)
    this.#shareReasons = new ShareReasons(host)
    this.#nics = new PodNics(host, this.#periods)
    this.#places = places
    this.#failed = failed
    this.#onPods = onPods
  }

  /** Whether there are pods to make rows of. */
  get knowsPods(): boolean {
    return this.#knowsPods
  }

  /** Number of kept pods, devices, GPUs, series of GPUs, NICs, devices with reasons, and rows. */
  get counts(): Readonly<Record<'pods' | 'devices' | 'gpus' | 'series' | 'nics' | 'reasons' | 'rows', number>> {
    const [nics, reasons] = [this.#nics.count, this.#shareReasons.count]
    return { ...this.#pods.counts, ...this.#gpus.counts, nics, reasons, rows: this.#rows.count }
  }

  /**
   * Node and devices of all pods, and how these were decided, by namespace and name. A simulated pod beside a real pod
   * of the same name is left out.
   */
  details(): ReadonlyMap<string, PodDetails> {
    const refuters = refutersOf(this.#pods.refuted())
    const byPod = new Map<string, PodDetails>()
    for (const pod of this.#pods.all()) {
      const key = namespacedName(pod.namespace, pod.pod)
      if (byPod.has(key) && pod.source.labels.simulated !== undefined) continue
      const gpus = Array.from(pod.devices, ([device, { claims }]) => heldGpu(device, claims))
      byPod.set(key, { node: pod.node, gpus, attribution: attributionOf(pod, refuters) })
    }
    return byPod
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

  /**
   * Makes the rows of a complete sample and reports rows that are gone, within the share of this turn; the rest follows
   * in later turns. Batches that arrive meanwhile belong to the next sample. `nowMs` uses the clock of `arrivedMs` of
   * batches.
   */
  evaluate(nowMs: number): void {
    if (this.#closed || this.#isMaking) return
    this.#make(this.#look(nowMs))
  }

  /** Does as much as this turn has room for. */
  #make(work: Iterator<undefined, void>): void {
    this.#isMaking = true
    let isDone: boolean | undefined
    try {
      do {
        for (let count = 0; count < STEPS_A_LOOK && isDone !== true; count++) isDone = work.next().done
      } while (isDone !== true && !this.#isTurnOver())
    } catch (error) {
      this.#isMaking = false
      throw error
    }
    if (isDone === true || this.#closed) this.#isMaking = false
    else void turn.next().then(() => this.#makeMore(work))
  }

  #makeMore(work: Iterator<undefined, void>): void {
    try {
      this.#make(work)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Whether batches came that belong into rows, and the sample that they are of is complete. */
  #isSampled(nowMs: number): boolean {
    if (this.#waitingMs === undefined) return false
    return nowMs - this.#arrivedMs >= SETTLED_MS || nowMs - this.#waitingMs >= WAIT_MAX_MS
  }

  #take(batch: Batch): number {
    // What an application reports is not known to be so.
    if (batch.origin !== 'own') return 0
    this.#periods.take(batch)
    this.#shareReasons.take(batch)
    this.#nics.take(batch)
    const ofGpus = this.#gpus.take(batch)
    const ofPods = this.#pods.take(batch)
    if (ofGpus === undefined && ofPods === undefined) return 0
    this.#arrivedMs = batch.arrivedMs
    this.#waitingMs ??= batch.arrivedMs
    if (ofPods !== undefined) this.#knowsPods = true
    countDrop(this.stats, 'gpu_limit', ofGpus ?? 0)
    countDrop(this.stats, 'pod_limit', ofPods ?? 0)
    return (ofGpus ?? 0) + (ofPods ?? 0)
  }

  *#look(nowMs: number): Generator<undefined, void> {
    if (nowMs - this.#sweptMs >= SWEEP_EVERY_MS) {
      this.#sweptMs = nowMs
      yield* this.#gpus.sweep(nowMs)
    }
    if (!this.#knowsPods) return
    const isSampled = this.#isSampled(nowMs)
    if (!isSampled && nowMs - this.#forgotMs < FORGET_EVERY_MS) return
    this.#forgotMs = nowMs
    if (isSampled) this.#waitingMs = undefined
    this.#nics.forget(nowMs)
    const isChanged = yield* this.#pods.forget(nowMs)
    if (isSampled || isChanged) yield* this.#report(nowMs)
  }

  /** Reports the closest NIC of each GPU of a pod. */
  #reportNics({ pod, ...row }: PodRow, nics: readonly PodNic[]): void {
    if (nics.length === 0) return
    const isSimulated = pod.source.labels.simulated !== undefined
    const placeOf = ({ host, pciAddress, physicalFunction }: PodNic) =>
      this.#places.ofAddress(host, pciAddress, isSimulated) ??
      this.#places.ofAddress(host, physicalFunction, isSimulated)
    for (const key of pod.devices.keys()) {
      const [host, uuid] = partsOfKey(key)
      const ofHost = nics.filter((nic) => nic.host === host)
      const found = nearestNic(this.#places.ofGpu(host, uuid, isSimulated), ofHost, placeOf)
      if (found !== undefined && !this.#rows.nic({ pod, ...row }, key, found)) countDrop(this.stats, 'shared_limit', 1)
    }
  }

  *#report(nowMs: number): Generator<undefined, void> {
    const pods = this.#pods.all()
    this.#knowsPods = pods.length > 0
    this.#onPods(pods)
    const holders = holdersOf(pods)
    const nowOf = (device: string) => this.#gpus.now(device, nowMs)
    const rows: PodRow[] = []
    for (const pod of pods) {
      rows.push(podRow(pod, { nowMs, holders, nowOf }))
      yield
    }
    // Of a shared device, a pod has only the numbers of its own processes.
    const why = (device: string, base: PodBase) =>
      ((holders.get(device) ?? 1) > 1 ? this.#shareReasons.lacking(device, base) : undefined) ??
      this.#gpus.lacking(device, base)
    this.#rows.begin(rows, nowMs)
    const nics = this.#nics.byPod()
    for (const row of rows) {
      this.#rows.pod(row, lackingOf(row, why))
      this.#reportNics(row, nics.get(podNicsKey(row.pod.namespace, row.pod.pod, row.pod.source)) ?? [])
      for (const device of sharedDevices(row.pod, holders)) {
        if (!this.#rows.device(row, device, nowOf(device.key))) countDrop(this.stats, 'shared_limit', 1)
      }
      yield
    }
    // The rows of the pods of a service precede the row of the service, with the same time.
    this.#rows.emit()
    for (const service of yield* servicesOf(rows)) {
      this.#rows.service(service)
      yield
    }
    yield* this.#rows.end()
  }
}
