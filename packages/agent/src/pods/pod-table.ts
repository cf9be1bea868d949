import { type Batch, readRecord, type SourceInfo, viewsOf } from '@sonde/sdk'
import { gpuKey } from './gpu-values.ts'

/** A pod, or a device of it, that this many periods say nothing of is gone. */
const GONE_PERIODS = 3
/** What a period is taken for before two reports came, and at least. Unit: milliseconds. */
const PERIOD_MIN_MS = 2000
/** Pods that are kept. Policy: further ones are counted as `pod_limit`. */
const POD_LIMIT = 16_384
/** Devices of one pod that are kept. Policy: the same. */
const DEVICE_LIMIT = 64

/** What is known of a pod. */
export interface Pod {
  readonly namespace: string
  readonly pod: string
  app: string
  service: string
  startedS: number | undefined
  gpusRequested: number | undefined
  /** Constant labels of the source that reported it: a simulated pod is told as such. */
  source: SourceInfo
  /** When each device, by its key, was last told. */
  readonly devices: Map<string, Sighting>
  seen: Sighting
}

interface Sighting {
  arrivedMs: number
  periodMs: number
}

/** Which pods there are, and the devices that they hold. */
export class PodTable {
  readonly #host: string
  readonly #pods = new Map<string, Pod>()

  constructor(host: string) {
    this.#host = host
  }

  /** Takes a batch; gives the records without room, undefined where it is of no pod. */
  take(batch: Batch): number | undefined {
    const { type, source, count, bytes, symbols, arrivedMs } = batch
    const isInfo = type.name === 'pod_info'
    if (!isInfo && type.name !== 'pod_device') return undefined
    const views = viewsOf(bytes)
    let refused = 0
    for (let at = 0; at < count * type.layout.recordBytes; at += type.layout.recordBytes) {
      const record = readRecord(type, views, at, symbols)
      const pod = this.#podOf(textOf(record, 'namespace'), textOf(record, 'pod'), source)
      if (pod === undefined) refused++
      else if (isInfo) tellInfo(pod, record, arrivedMs)
      else if (!this.#tellDevice(pod, record, source, arrivedMs)) refused++
    }
    return refused
  }

  /** Pods that are there; forgets those that are gone. */
  at(nowMs: number): Pod[] {
    for (const [key, { seen, devices }] of this.#pods) {
      for (const [device, sighting] of devices) if (isGone(sighting, nowMs)) devices.delete(device)
      if (devices.size === 0 && isGone(seen, nowMs)) this.#pods.delete(key)
    }
    return [...this.#pods.values()]
  }

  #tellDevice(pod: Pod, record: Readonly<Record<string, unknown>>, source: SourceInfo, arrivedMs: number): boolean {
    const host = textOf(record, 'Hostname') || (source.host ?? this.#host)
    const key = gpuKey(host, textOf(record, 'UUID'), textOf(record, 'GPU_I_ID'))
    let sighting = pod.devices.get(key)
    if (sighting === undefined) {
      if (pod.devices.size >= DEVICE_LIMIT) return false
      sighting = unseen()
      pod.devices.set(key, sighting)
    }
    see(sighting, arrivedMs)
    return true
  }

  #podOf(namespace: string, name: string, source: SourceInfo): Pod | undefined {
    const key = `${namespace}\n${name}`
    const known = this.#pods.get(key)
    if (known !== undefined || this.#pods.size >= POD_LIMIT) return known
    const pod: Pod = {
      ...{ namespace, pod: name, source },
      app: '',
      service: '',
      startedS: undefined,
      gpusRequested: undefined,
      devices: new Map(),
      seen: unseen(),
    }
    this.#pods.set(key, pod)
    return pod
  }
}

function tellInfo(pod: Pod, record: Readonly<Record<string, unknown>>, arrivedMs: number): void {
  pod.app = textOf(record, 'app')
  pod.service = textOf(record, 'service')
  pod.startedS = numberOf(record, 'started_seconds')
  pod.gpusRequested = numberOf(record, 'gpus_requested')
  see(pod.seen, arrivedMs)
}

function textOf(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name]
  return typeof value === 'string' ? value : ''
}

function numberOf(record: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = record[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function unseen(): Sighting {
  return { arrivedMs: Number.NEGATIVE_INFINITY, periodMs: PERIOD_MIN_MS }
}

function see(sighting: Sighting, arrivedMs: number): void {
  const apartMs = arrivedMs - sighting.arrivedMs
  if (apartMs > 0 && Number.isFinite(apartMs)) sighting.periodMs = Math.max(PERIOD_MIN_MS, apartMs)
  sighting.arrivedMs = arrivedMs
}

function isGone({ arrivedMs, periodMs }: Sighting, nowMs: number): boolean {
  return nowMs - arrivedMs > periodMs * GONE_PERIODS
}
