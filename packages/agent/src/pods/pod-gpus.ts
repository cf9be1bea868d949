import {
  Absences,
  type Batch,
  countDrop,
  type Labels,
  Periods,
  type RecordType,
  type Sink,
  type Source,
  sinkStats,
  wallNs,
} from '@sonde/sdk'
import { createOwnSource, turn } from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { GpuValues, isInstance } from './gpu-values.ts'
import { PodTable } from './pod-table.ts'
import { type PodRow, podFields, podRow, type ServiceRows, serviceFields, servicesOf } from './rows.ts'
import { appGpuType, podGpuType } from './type.ts'

/** Records of one sample come in several batches: rows are made when none came for this long. Unit: milliseconds. */
const SETTLED_MS = 100
/** Where batches come without a pause, rows are made so long after the first. Unit: milliseconds. */
const WAIT_MAX_MS = 1000
/** Rows are made no more often, whatever the sources say. */
const PERIOD_MIN_MS = WAIT_MAX_MS
/** How often pods are looked for that nothing is reported of any more. Unit: milliseconds. */
const FORGET_EVERY_MS = 1000
const SWEEP_EVERY_MS = 60_000
/** Steps between two looks at the clock: an exporter of a cluster tells of thousands of pods. */
const STEPS_A_LOOK = 16

const NO_PODS = { rows: [] }

/** Options of {@link PodGpus}. */
export interface PodGpusOptions {
  /** Name of this host. */
  readonly host: string
  /** Takes the batches of rows. */
  readonly emit: (batch: Batch) => void
  /** Called where rows cannot be made, in a later turn than that of `evaluate`. */
  readonly failed: (error: unknown) => void
  /** Whether work has had its share of this turn. Default: that of the thread. */
  readonly isTurnOver?: () => boolean
}

/** Where rows are reported: those of simulated pods are told as such. */
interface Output {
  readonly source: Source
  readonly absences: Absences
  /** The period of its rows, as it was last told; 0 before. Unit: milliseconds. */
  periodMs: number
}

/** A row that was reported, by which its series is told to be gone. */
interface ReportedRow {
  readonly output: Output
  readonly type: RecordType
  readonly labels: Labels
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
  readonly #emit: (batch: Batch) => void
  readonly #failed: (error: unknown) => void
  readonly #isTurnOver: () => boolean
  readonly #outputs = new Map<string, Output>()
  /** Rows of the last time, by their type and labels. */
  #reported = new Map<string, ReportedRow>()
  /** When a batch came of which no row was made yet; undefined where there is none. */
  #waitingMs: number | undefined
  #arrivedMs = Number.NEGATIVE_INFINITY
  #forgotMs = Number.NEGATIVE_INFINITY
  #sweptMs = Number.NEGATIVE_INFINITY
  #knowsPods = false
  /** Rows of a sample are being made. */
  #isMaking = false
  #closed = false

  constructor({ host, emit, failed, isTurnOver = () => turn.isOver() }: PodGpusOptions) {
    this.#isTurnOver = isTurnOver
    this.#gpus = new GpuValues(host, this.#periods)
    this.#pods = new PodTable(host, this.#periods)
    this.#emit = emit
    this.#failed = failed
  }

  /** Whether there are pods to make rows of. */
  get knowsPods(): boolean {
    return this.#knowsPods
  }

  /** What is kept: pods, their devices, GPUs, series of GPUs, and rows. */
  get counts(): Readonly<Record<'pods' | 'devices' | 'gpus' | 'series' | 'rows', number>> {
    return { ...this.#pods.counts, ...this.#gpus.counts, rows: this.#reported.size }
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
   * Makes the rows of a sample that is complete, and tells which rows are gone: in this turn as far as its share of the
   * thread goes, the rest in the turns that follow. What comes meanwhile is of the next sample. `nowMs` is on the clock
   * of `arrivedMs` of batches.
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
    const isChanged = yield* this.#pods.forget(nowMs)
    if (isSampled || isChanged) yield* this.#report(nowMs)
  }

  *#report(nowMs: number): Generator<undefined, void> {
    const pods = this.#pods.all()
    this.#knowsPods = pods.length > 0
    const rows: PodRow[] = []
    for (const pod of pods) {
      rows.push(podRow(pod, (device) => this.#gpus.now(device, nowMs)))
      yield
    }
    const before = this.#reported
    this.#reported = new Map()
    const time = wallNs()
    this.#tellPeriods(rows)
    yield
    for (const row of rows) {
      this.#reportPod(row, time)
      yield
    }
    // Whoever has the row of a service has those of its pods of the same time.
    this.#emitRows()
    for (const service of yield* servicesOf(rows)) {
      this.#reportService(service, time)
      yield
    }
    const gone = [...before].filter(([key]) => !this.#reported.has(key)).map(([, row]) => row)
    // A history holds values for a while: a last row ends that.
    for (const { output, type, labels } of gone) {
      if (type === appGpuType) output.source.report(appGpuType, { time, ...labels, ...serviceFields(NO_PODS) } as never)
      yield
    }
    this.#emitRows()
    for (const { output, type, labels } of gone) {
      output.absences.gone(type, labels, type === podGpuType ? 'the pod is gone' : 'the service has no GPU pod now')
      yield
    }
    this.#emitRows()
  }

  #emitRows(): void {
    for (const { source } of this.#outputs.values()) source.emit()
  }

  /**
   * Tells how often rows are made: as often as the slowest of the GPUs is read. Where no source says how often that is,
   * the period that was told before holds.
   */
  #tellPeriods(rows: readonly PodRow[]): void {
    const byOutput = Map.groupBy(rows, (row) => this.#outputFor(row))
    for (const [output, ofOutput] of byOutput) {
      const saidMs = ofOutput.reduce((longest, row) => Math.max(longest, row.periodMs), 0)
      const periodMs = Math.max(PERIOD_MIN_MS, saidMs)
      if (saidMs === 0 || periodMs === output.periodMs) continue
      output.periodMs = periodMs
      output.source.setPeriod(undefined, { reportUs: Math.round(periodMs * 1000) })
    }
  }

  #reportPod(row: PodRow, time: bigint): void {
    const { app, service, namespace, pod, devices, gpusRequested, startedS } = row.pod
    const labels = { app, service, namespace, pod }
    this.#outputOf(row, podGpuType, labels).source.report(podGpuType, {
      ...{ time, ...labels, count: devices.size, instances: instancesOf(row) },
      ...podFields(row),
      ...(gpusRequested === undefined ? {} : { requested: gpusRequested }),
      ...(startedS === undefined ? {} : { started_seconds: startedS }),
      ...(row.ageMs === undefined ? {} : { sample_age_seconds: row.ageMs / 1000 }),
    })
  }

  #reportService(service: ServiceRows, time: bigint): void {
    const [first] = service.rows
    if (first === undefined) return
    const labels = { app: service.app, service: service.service }
    this.#outputOf(first, appGpuType, labels).source.report(appGpuType, { time, ...labels, ...serviceFields(service) })
  }

  /** Where a row goes; notes that it is reported. */
  #outputOf(row: PodRow, type: RecordType, labels: Labels): Output {
    const output = this.#outputFor(row)
    const { simulated = '' } = row.pod.source.labels
    this.#reported.set(JSON.stringify([type.name, simulated, ...Object.values(labels)]), { output, type, labels })
    return output
  }

  #outputFor({ pod: { source } }: PodRow): Output {
    const { simulated } = source.labels
    const key = simulated ?? ''
    let output = this.#outputs.get(key)
    if (output === undefined) {
      const constant: Record<string, string> = simulated === undefined ? {} : { simulated }
      const created = createOwnSource({ id: 'pods', labels: constant, emit: this.#emit })
      output = { source: created, absences: new Absences(created), periodMs: 0 }
      this.#outputs.set(key, output)
    }
    return output
  }
}

function instancesOf({ pod: { devices } }: PodRow): number {
  let count = 0
  for (const device of devices.keys()) if (isInstance(device)) count++
  return count
}
