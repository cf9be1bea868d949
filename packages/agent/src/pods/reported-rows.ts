import { type Batch, type Labels, type RecordType, type Source, wallNs } from '@sonde/sdk'
import { absenceType, createOwnSource, mergeLabels, seriesKey } from '@sonde/sdk/internal'
import { fieldName, POD_FIELDS, type PodBase } from './fields.ts'
import { type GpuNow, isInstance, type Lacking, partsOfKey } from './gpu-values.ts'
import type { NearestNic } from './nearest-nic.ts'
import { type PodRow, type ServiceRows, serviceFields, valueFields } from './rows.ts'
import type { SharedDevice } from './shares.ts'
import { appGpuType, podGpuNicType, podGpuType, sharedGpuType } from './type.ts'

/** The shortest period of rows, for any period of the sources. Unit: milliseconds. */
const PERIOD_MIN_MS = 1000
/** Rows of devices that pods share, and of their closest NICs. Policy: further ones are not reported. */
const SHARED_LIMIT = 16_384
/** Why a number is absent is said again so often, for readers that came later. Unit: milliseconds. */
const REPEAT_MS = 60_000

const NO_PODS = { rows: [] }
/** The fields of a board beside its instances; memory and activity are those of the instances. */
const OF_BOARDS: ReadonlySet<PodBase> = new Set(['power'])
const NINE = POD_FIELDS.map((field) => fieldName(field))
const WHY_GONE: ReadonlyMap<RecordType, string> = new Map<RecordType, string>([
  [podGpuType, 'the pod is gone'],
  [sharedGpuType, 'the pod shares it no more'],
  [appGpuType, 'the service has no GPU pod now'],
  [podGpuNicType, 'it is not the closest NIC of this pod and GPU any more'],
])

/** Where rows are reported: those of simulated pods are marked as simulated. */
interface Output {
  readonly source: Source
  /** The period of its rows, as it was last told; 0 before. Unit: milliseconds. */
  periodMs: number
}

/** A reported row, by which its series is reported as gone. */
interface ReportedRow {
  readonly output: Output
  readonly type: RecordType
  readonly labels: Labels
  /** The last reported reasons of its absent fields. */
  readonly lacking: Map<string, { readonly why: Lacking; readonly atMs: number }>
}

/** Reports the rows of each sample, the reasons of absent numbers, and rows that are gone since the previous sample. */
export class ReportedRows {
  readonly #emit: (batch: Batch) => void
  readonly #outputs = new Map<string, Output>()
  /** Rows of this sample and of the one before, by their type and labels. */
  #rows = new Map<string, ReportedRow>()
  #before: ReadonlyMap<string, ReportedRow> = new Map()
  #sharedCount = 0
  #nicCount = 0
  #time = 0n
  #nowMs = 0

  constructor(emit: (batch: Batch) => void) {
    this.#emit = emit
  }

  /** Rows of the last sample. */
  get count(): number {
    return this.#rows.size
  }

  /** Begins a sample. `nowMs` is on the clock of `arrivedMs` of batches. */
  begin(rows: readonly PodRow[], nowMs: number): void {
    this.#before = this.#rows
    this.#rows = new Map()
    this.#sharedCount = 0
    this.#nicCount = 0
    this.#time = wallNs()
    this.#nowMs = nowMs
    this.#tellPeriods(rows)
  }

  /** Reports the row of a pod, and why numbers of it are absent. */
  pod(row: PodRow, lacking: ReadonlyMap<string, Lacking>): void {
    const { app, service, namespace, pod, devices, gpusRequested, startedS, isScheduled } = row.pod
    const labels = { app, service, namespace, pod }
    const reported = this.#reportedOf(row, podGpuType, labels)
    this.#tellLacking(reported, lacking)
    reported.output.source.report(podGpuType, {
      ...{ time: this.#time, ...labels },
      ...{ count: devices.size, instances: instancesOf(row), shared_with: row.sharedWith },
      ...valueFields((base) => row.values[base]),
      ...(isScheduled === undefined ? {} : { scheduled: isScheduled ? 1 : 0 }),
      ...(gpusRequested === undefined ? {} : { requested_gpus: gpusRequested }),
      ...(startedS === undefined ? {} : { start_time_seconds: startedS }),
      ...(row.ageMs === undefined ? {} : { sample_age_seconds: row.ageMs / 1000 }),
    })
  }

  /** Reports a device of a pod that is not the pod's alone; false if there is no room for its row. */
  device(row: PodRow, { key, pods }: SharedDevice, now: GpuNow | undefined): boolean {
    if (this.#sharedCount >= SHARED_LIMIT) return false
    this.#sharedCount++
    const { app, service, namespace, pod } = row.pod
    const [Hostname, UUID, GPU_I_ID] = partsOfKey(key)
    const labels = { app, service, namespace, pod, Hostname, UUID, GPU_I_ID }
    const { source } = this.#reportedOf(row, sharedGpuType, labels).output
    const numberFor = (base: PodBase) => (pods > 0 || OF_BOARDS.has(base) ? now?.values.get(base) : undefined)
    source.report(sharedGpuType, { time: this.#time, ...labels, pods, ...valueFields(numberFor) } as never)
    return true
  }

  /** Reports the closest NIC of a GPU of a pod; false if there is no room for its row. */
  nic(row: PodRow, key: string, { nic, gpuPlace, nicPlace, nics }: NearestNic): boolean {
    if (this.#nicCount >= SHARED_LIMIT) return false
    this.#nicCount++
    const { namespace, pod } = row.pod
    const [Hostname, UUID, GPU_I_ID] = partsOfKey(key)
    const labels = { namespace, pod, Hostname, UUID, GPU_I_ID, nic: nic.name }
    this.#reportedOf(row, podGpuNicType, labels).output.source.report(podGpuNicType, {
      ...{ time: this.#time, ...labels, nics },
      ...{ same_socket: gpuPlace.socket === nicPlace.socket ? 1 : 0 },
      ...{ gpu_socket: gpuPlace.socket, nic_socket: nicPlace.socket },
      ...{ gpu_numa_node: gpuPlace.numaNode, nic_numa_node: nicPlace.numaNode },
    })
    return true
  }

  /** Reports the row of a service. */
  service(service: ServiceRows): void {
    const [first] = service.rows
    if (first === undefined) return
    const labels = { app: service.app, service: service.service }
    const { source } = this.#reportedOf(first, appGpuType, labels).output
    source.report(appGpuType, { time: this.#time, ...labels, ...serviceFields(service) })
  }

  /** Ends a sample: rows without a report in it are gone. */
  *end(): Generator<undefined, void> {
    const gone = [...this.#before].filter(([key]) => !this.#rows.has(key)).map(([, row]) => row)
    this.#before = new Map()
    // A history holds values for a while: a last row ends that.
    for (const { output, type, labels } of gone) {
      const { source } = output
      if (type === appGpuType)
        source.report(appGpuType, { time: this.#time, ...labels, ...serviceFields(NO_PODS) } as never)
      yield
    }
    this.emit()
    for (const { output, type, labels } of gone) {
      const reason = WHY_GONE.get(type) ?? ''
      reportAbsence(output.source, type, labels, '', { code: 'gone', reason })
      yield
    }
    this.emit()
  }

  /** Passes the reported records on. */
  emit(): void {
    for (const { source } of this.#outputs.values()) source.emit()
  }

  /**
   * Reports the period of rows: that of the slowest GPU. Without a period of any source, the last reported period
   * stays.
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

  /** Says why numbers are absent: once when that changes, and again every minute. */
  #tellLacking({ output: { source }, type, labels, lacking: told }: ReportedRow, now: ReadonlyMap<string, Lacking>) {
    if (told.size === 0 && now.size === 0) return
    for (const field of NINE) {
      const why = now.get(field)
      const before = told.get(field)
      if (why === undefined) {
        if (told.delete(field)) reportAbsence(source, type, labels, field, { code: '', reason: '' })
        continue
      }
      const isSame = before?.why.code === why.code && before.why.reason === why.reason
      if (isSame && this.#nowMs - before.atMs < REPEAT_MS) continue
      told.set(field, { why, atMs: this.#nowMs })
      // The GPU is gone; the row of the pod is not.
      reportAbsence(source, type, labels, field, why.code === 'gone' ? { ...why, code: 'failed' } : why)
    }
  }

  /** Notes that a row is reported. */
  #reportedOf(row: PodRow, type: RecordType, labels: Labels): ReportedRow {
    const { simulated = '' } = row.pod.source.labels
    const key = JSON.stringify([type.name, simulated, ...Object.values(labels)])
    const lacking = this.#before.get(key)?.lacking ?? new Map()
    const reported = { output: this.#outputFor(row), type, labels, lacking }
    this.#rows.set(key, reported)
    return reported
  }

  #outputFor({ pod: { source } }: PodRow): Output {
    const { simulated } = source.labels
    const key = simulated ?? ''
    let output = this.#outputs.get(key)
    if (output === undefined) {
      const constant: Record<string, string> = simulated === undefined ? {} : { simulated }
      output = { source: createOwnSource({ id: 'pods', labels: constant, emit: this.#emit }), periodMs: 0 }
      this.#outputs.set(key, output)
    }
    return output
  }
}

function reportAbsence(
  source: Source,
  type: RecordType,
  labels: Labels,
  field: string,
  { code, reason }: { readonly code: string; readonly reason: string },
): void {
  const series = seriesKey(mergeLabels(labels, source.info.labels))
  source.report(absenceType, { time: wallNs(), type: type.name, series, field, code, reason })
}

function instancesOf({ pod: { devices } }: PodRow): number {
  let count = 0
  for (const device of devices.keys()) if (isInstance(device)) count++
  return count
}
