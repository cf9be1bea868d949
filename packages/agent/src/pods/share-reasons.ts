import { type AbsenceCode, type Batch, readRecords, viewsOf } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import type { PodBase } from './fields.ts'
import { gpuKey, type Lacking } from './gpu-values.ts'
import { readSeries } from './read-series.ts'

/** Devices of which reasons are kept. Policy: the reasons of further devices are not kept. */
const DEVICE_LIMIT = 16_384
/** Pods of one device of which reasons are kept. Policy: those of further pods are not kept. */
const PODS_MAX = 64
/** Fields of `pod_share` by the number of a pod that they are. */
const FIELDS: Readonly<Record<string, PodBase>> = { util_ratio: 'util', memory_used_bytes: 'memory_used' }

/**
 * Why the use of a shared GPU by each of its pods is not known, in the words of the source that reads processes: for
 * all GPUs, as without the PID namespace of the machine, or for one, as on MIG.
 */
export class ShareReasons {
  readonly #host: string
  #every: Lacking | undefined
  /** By device, then by the series of its pod. */
  readonly #byDevice = new Map<string, Map<string, Map<PodBase, Lacking>>>()

  /** @param host Name of this host, for records that name none. */
  constructor(host: string) {
    this.#host = host
  }

  /** Number of devices of which reasons are kept. */
  get count(): number {
    return this.#byDevice.size
  }

  /** Takes a batch of any type; reasons are in records of `sonde_absence`. */
  take({ type, bytes, count, symbols, source }: Batch): void {
    if (type.fingerprint !== absenceType.fingerprint) return
    for (const record of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (record.type !== 'pod_share') continue
      const reason = { code: record.code as AbsenceCode, reason: record.reason }
      if (record.series === '') {
        if (record.field === '') this.#every = record.code === '' ? undefined : reason
        continue
      }
      const { Hostname = '', UUID = '', GPU_I_ID = '' } = readSeries(record.series)
      const device = gpuKey(Hostname || (source.host ?? this.#host), UUID, GPU_I_ID)
      const base = FIELDS[record.field]
      if (record.code === 'gone') this.#forget(device, record.series)
      else if (base !== undefined) this.#set(device, record.series, [base, record.code === '' ? undefined : reason])
    }
  }

  /** Why the use of a device by a pod is not known; undefined if no source says it. */
  lacking(device: string, base: PodBase): Lacking | undefined {
    if (base !== 'util' && base !== 'memory_used') return undefined
    for (const reasons of this.#byDevice.get(device)?.values() ?? []) {
      const reason = reasons.get(base)
      if (reason !== undefined) return reason
    }
    return this.#every
  }

  #set(device: string, series: string, [base, reason]: readonly [PodBase, Lacking | undefined]): void {
    const known = this.#byDevice.get(device)
    const ofSeries = known?.get(series)
    if (reason === undefined) {
      ofSeries?.delete(base)
      if (ofSeries?.size === 0) this.#forget(device, series)
    } else if (ofSeries !== undefined) ofSeries.set(base, reason)
    else if (known !== undefined) {
      if (known.size < PODS_MAX) known.set(series, new Map([[base, reason]]))
    } else if (this.#byDevice.size < DEVICE_LIMIT)
      this.#byDevice.set(device, new Map([[series, new Map([[base, reason]])]]))
  }

  /** A pod uses the device no more; the reasons of others stay. */
  #forget(device: string, series: string): void {
    const known = this.#byDevice.get(device)
    known?.delete(series)
    if (known?.size === 0) this.#byDevice.delete(device)
  }
}
