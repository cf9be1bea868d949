import { type Batch, type Labels, readRecord, readRecords, type SourceInfo, viewsOf } from '@sonde/sdk'
import { absenceType, ownerOf, type Periods } from '@sonde/sdk/internal'
import { evidenceVia, INFO_ORIGINS, OF_EXPORTER } from '../sources/pods/evidence.ts'
import type { PodValues } from './fields.ts'
import { gpuKey } from './gpu-values.ts'
import { type DeviceClaim, type DeviceClaims, deviceClaim, hostsRuled, isDeviceHeld } from './held-by.ts'
import { readSeries } from './read-series.ts'
import { isOver, SAMPLE_MS, type Sighting, see, unseen } from './sighting.ts'

/** Pods that are kept. Policy: further ones are counted as `pod_limit`. */
const POD_LIMIT = 16_384
/** The last report of an entry that is gone. */
const GONE_MS = Number.NEGATIVE_INFINITY
/** Devices of one pod that are kept. Policy: the same. */
const DEVICE_LIMIT = 64

/** How app and service of a pod were decided. */
export interface PodOrigin {
  /** The source of the labels; empty if no source has them. */
  readonly via: string
  /** The label of the pod that named its app; empty if none did, or the source does not say it. */
  readonly appLabel: string
  readonly serviceLabel: string
  /** Phase of the pod, and why it does not run yet; empty if unknown. */
  readonly phase: string
  readonly waiting: string
}

/** The description of a pod by one source. */
interface PodInfo extends PodOrigin {
  readonly app: string
  readonly service: string
  readonly startedS: number | undefined
  readonly gpusRequested: number | undefined
  /** Name of its node; empty while it has none. */
  readonly node: string
  /** Labels to copy, as JSON; empty if there are none. */
  readonly labels: string
  readonly seen: Sighting
}

/** A device that a pod holds. */
export interface PodDevice extends Sighting {
  /** The usage of the device by the processes of the pod, from the last report, if it is reported. */
  own: { readonly values: PodValues; readonly seen: Sighting } | undefined
  /** Who says that the pod holds it. */
  readonly claims: DeviceClaims
}

/** The known data of a pod. */
export interface Pod {
  readonly namespace: string
  readonly pod: string
  app: string
  service: string
  startedS: number | undefined
  gpusRequested: number | undefined
  /** Whether it has a node; undefined if no source says anything of the pod itself. */
  isScheduled: boolean | undefined
  /** Labels to copy, as JSON; empty if there are none. */
  labels: string
  /** Name of its node; empty if it has none, or it is unknown. */
  node: string
  /** Constant labels of its source, such as `simulated`. */
  source: SourceInfo
  /** Devices that it holds, by key. */
  readonly devices: Map<string, PodDevice>
  /** Devices that a source reports for it, and that better evidence does not; see `held-by.ts`. */
  readonly refuted: Map<string, PodDevice>
  origin: PodOrigin | undefined
  /** By the owner of the source, in the order of the first reports. */
  readonly infos: Map<object, PodInfo>
}

/** A record of a pod, and when it came. */
interface PodReport {
  readonly record: Readonly<Record<string, unknown>>
  readonly source: SourceInfo
  readonly arrivedMs: number
  /** Unit: milliseconds; 0 if its source does not say it. */
  readonly periodMs: number
}

/** Which pods there are, and the devices that they hold. */
export class PodTable {
  readonly #host: string
  readonly #periods: Periods
  readonly #limit: number
  readonly #pods = new Map<string, Pod>()

  /**
   * @param host Name of this host, for records that name none.
   * @param periods How often sources report, as they say.
   * @param limit Pods that are kept. Default: 16 384. Policy: further ones are counted.
   */
  constructor(host: string, periods: Periods, limit = POD_LIMIT) {
    this.#host = host
    this.#periods = periods
    this.#limit = limit
  }

  /** Pods that are kept, and the devices of all. */
  get counts(): { readonly pods: number; readonly devices: number } {
    return { pods: this.#pods.size, devices: this.#pods.values().reduce((sum, { devices }) => sum + devices.size, 0) }
  }

  /** Takes a batch; gives the records without room, undefined if it is of no pod. */
  take(batch: Batch): number | undefined {
    const { type, source, count, bytes, symbols, arrivedMs } = batch
    if (type.fingerprint === absenceType.fingerprint) return this.#takeGone(batch)
    const { name } = type
    if (name !== 'pod_info' && name !== 'pod_device' && name !== 'pod_share') return undefined
    const views = viewsOf(bytes)
    let refused = 0
    for (let at = 0; at < count * type.layout.recordBytes; at += type.layout.recordBytes) {
      const record = readRecord(type, views, at, symbols)
      const pod = this.#podOf(textField(record, 'namespace'), textField(record, 'pod'), source)
      if (pod === undefined) {
        refused++
        continue
      }
      const periodMs = this.#periods.ofSeries(source, type, { namespace: pod.namespace, pod: pod.pod })
      const report = { record, source, arrivedMs, periodMs }
      if (name === 'pod_info') updateInfo(pod, report)
      else if (!this.#updateDevice(pod, report, name)) refused++
    }
    return refused
  }

  /**
   * Reads reports of gone pods: if a complete answer of an exporter has no such pod, the pod is gone at once. Returns
   * 0, or undefined if no record describes a pod.
   */
  #takeGone({ bytes, count, symbols, source, arrivedMs }: Batch): number | undefined {
    let isAny = false
    for (const { type, series, field, code } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (code !== 'gone' || field !== '') continue
      if (type === 'nvml_mig' && this.#endInstance(readSeries(series), source)) isAny = true
      if (type !== 'pod_device' && type !== 'pod_info') continue
      const labels = readSeries(series)
      const pod = this.#pods.get(podKey(labels.namespace ?? '', labels.pod ?? '', source))
      if (pod === undefined) continue
      isAny = true
      if (type === 'pod_info') {
        const info = pod.infos.get(ownerOf(source))
        if (info !== undefined) pod.infos.set(ownerOf(source), { ...info, seen: unseen() })
        continue
      }
      const key = gpuKey(labels.Hostname || (source.host ?? this.#host), labels.UUID ?? '', labels.GPU_I_ID ?? '')
      const device = pod.devices.get(key) ?? pod.refuted.get(key)
      const seen = device?.claims.get(ownerOf(source))?.seen
      // Another container of the pod may hold it still.
      if (device === undefined || seen === undefined || arrivedMs - seen.arrivedMs <= SAMPLE_MS) continue
      device.claims.delete(ownerOf(source))
      if (device.claims.size === 0) device.arrivedMs = GONE_MS
    }
    return isAny ? 0 : undefined
  }

  /** Removes pods and devices of pods that are gone, one pod a step; returns whether there were any. */
  *forget(nowMs: number): Generator<undefined, boolean> {
    let isAny = false
    const ruled = hostsRuled(this.#pods.values(), nowMs)
    for (const [key, pod] of this.#pods) {
      const { devices, refuted, infos } = pod
      for (const held of [devices, refuted]) {
        for (const [device, sighting] of held) if (isOver(sighting, nowMs)) isAny = held.delete(device)
      }
      isAny = sortDevices(pod, ruled, nowMs) || isAny
      for (const [owner, { seen }] of infos) {
        if (isOver(seen, nowMs)) isAny = infos.delete(owner)
      }
      if (devices.size === 0 && refuted.size === 0 && infos.size === 0) isAny = this.#pods.delete(key)
      else mergeInfos(pod)
      yield
    }
    return isAny
  }

  /** Pods that are there. A pod that an exporter alone reports, and whose devices are all refuted, is not. */
  all(): Pod[] {
    return [...this.#pods.values()].filter(({ devices, refuted, origin }) => {
      if (devices.size > 0 || refuted.size === 0) return true
      return origin !== undefined && origin.via !== OF_EXPORTER.via
    })
  }

  /** Pods for which a source reports a device that better evidence gives to other pods. */
  refuted(): Pod[] {
    return [...this.#pods.values()].filter(({ refuted }) => refuted.size > 0)
  }

  /**
   * An instance was destroyed. Its id is used again, so no pod holds the id until a source names it anew. Returns
   * whether a pod held it.
   */
  #endInstance({ Hostname = '', UUID = '', GPU_I_ID = '' }: Labels, source: SourceInfo): boolean {
    const key = gpuKey(Hostname || (source.host ?? this.#host), UUID, GPU_I_ID)
    let isAny = false
    for (const { devices, refuted } of this.#pods.values()) {
      const device = devices.get(key) ?? refuted.get(key)
      if (device === undefined) continue
      isAny = true
      device.claims.clear()
      device.own = undefined
      device.arrivedMs = GONE_MS
    }
    return isAny
  }

  #updateDevice(
    pod: Pod,
    { record, source, arrivedMs, periodMs }: PodReport,
    type: 'pod_device' | 'pod_share',
  ): boolean {
    const host = textField(record, 'Hostname') || (source.host ?? this.#host)
    const key = gpuKey(host, textField(record, 'UUID'), textField(record, 'GPU_I_ID'))
    let held = pod.devices.get(key) ?? pod.refuted.get(key)
    if (held === undefined) {
      if (pod.devices.size + pod.refuted.size >= DEVICE_LIMIT) return false
      held = { ...unseen(), own: undefined, claims: new Map() }
      pod.devices.set(key, held)
    }
    see(held, arrivedMs, periodMs)
    const owner = ownerOf(source)
    const claim = type === 'pod_device' ? deviceClaim(record, held.claims.get(owner)) : held.claims.get(owner)
    const counted: DeviceClaim = claim ?? { evidence: evidenceVia(''), doubt: '', resource: '', seen: unseen() }
    held.claims.set(owner, counted)
    see(counted.seen, arrivedMs, periodMs)
    if (type === 'pod_device') return true
    const [util, used] = [numberField(record, 'util_ratio'), numberField(record, 'memory_used_bytes')]
    const seen = held.own?.seen ?? unseen()
    see(seen, arrivedMs, periodMs)
    const values = {
      ...(util === undefined ? {} : { util }),
      ...(used === undefined ? {} : { memory_used: used }),
    }
    held.own = { values, seen }
    return true
  }

  #podOf(namespace: string, name: string, source: SourceInfo): Pod | undefined {
    const key = podKey(namespace, name, source)
    const known = this.#pods.get(key)
    if (known !== undefined || this.#pods.size >= this.#limit) return known
    const pod: Pod = {
      ...{ namespace, pod: name, source },
      app: '',
      service: '',
      startedS: undefined,
      gpusRequested: undefined,
      isScheduled: undefined,
      labels: '',
      node: '',
      devices: new Map(),
      refuted: new Map(),
      origin: undefined,
      infos: new Map(),
    }
    this.#pods.set(key, pod)
    return pod
  }
}

function podKey(namespace: string, name: string, source: SourceInfo): string {
  return JSON.stringify([namespace, name, source.labels.simulated])
}

function updateInfo(pod: Pod, { record, source, arrivedMs, periodMs }: PodReport): void {
  const { startedS: startedBeforeS } = pod
  const owner = ownerOf(source)
  const seen = pod.infos.get(owner)?.seen ?? unseen()
  see(seen, arrivedMs, periodMs)
  pod.infos.set(owner, {
    app: textField(record, 'app'),
    service: textField(record, 'service'),
    startedS: numberField(record, 'start_time_seconds'),
    gpusRequested: numberField(record, 'requested_gpus'),
    node: textField(record, 'node_name'),
    labels: textField(record, 'labels'),
    via: textField(record, 'via'),
    appLabel: textField(record, 'app_label'),
    serviceLabel: textField(record, 'service_label'),
    phase: textField(record, 'phase'),
    waiting: textField(record, 'waiting'),
    seen,
  })
  mergeInfos(pod)
  // A restarted pod with the same name has only the devices of its current reports.
  if (startedBeforeS === undefined || pod.startedS === undefined || pod.startedS === startedBeforeS) return
  for (const [device, sighting] of pod.devices) {
    if (arrivedMs - sighting.arrivedMs > SAMPLE_MS) pod.devices.delete(device)
  }
}

/** Sorts the devices of a pod into held and refuted; returns whether any changed its place. */
function sortDevices({ namespace, devices, refuted }: Pod, ruled: ReadonlySet<string>, nowMs: number): boolean {
  let isAny = false
  for (const [key, device] of devices) {
    if (isDeviceHeld({ key, namespace, claims: device.claims }, ruled, nowMs)) continue
    devices.delete(key)
    refuted.set(key, device)
    isAny = true
  }
  for (const [key, device] of refuted) {
    if (!isDeviceHeld({ key, namespace, claims: device.claims }, ruled, nowMs)) continue
    refuted.delete(key)
    devices.set(key, device)
    isAny = true
  }
  return isAny
}

/**
 * Merges the descriptions of a pod: one source knows its requests, another its app. If two sources know the same, the
 * better origin decides, then the first report. App and service stay if their source is silent, because a pod must not
 * change its app when an
 * exporter is down.
 */
function mergeInfos(pod: Pod): void {
  const infos = [...pod.infos.values()].sort((a, b) => rankOfOrigin(a.via) - rankOfOrigin(b.via))
  pod.origin = infos.find(({ app, service }) => app !== '' || service !== '') ?? infos[0] ?? pod.origin
  pod.app = infos.find(({ app }) => app !== '')?.app ?? pod.app
  pod.service = infos.find(({ service }) => service !== '')?.service ?? pod.service
  pod.startedS = infos.find(({ startedS }) => startedS !== undefined)?.startedS
  pod.gpusRequested = infos.find(({ gpusRequested }) => gpusRequested !== undefined)?.gpusRequested
  pod.labels = infos.find(({ labels }) => labels !== '')?.labels ?? ''
  pod.node = infos.find(({ node }) => node !== '')?.node ?? ''
  pod.isScheduled = infos.length === 0 ? undefined : infos.some(({ node }) => node !== '')
}

/** Better origins first; unknown origins last. */
function rankOfOrigin(via: string): number {
  const rank = INFO_ORIGINS.indexOf(via)
  return rank < 0 ? INFO_ORIGINS.length : rank
}

function textField(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name]
  return typeof value === 'string' ? value : ''
}

function numberField(record: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const value = record[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
