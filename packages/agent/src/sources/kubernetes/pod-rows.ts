import type { Labels, RecordType } from '@sonde/sdk'
import { podAppOf } from '@sonde/sdk/internal'
import { FieldAbsences } from '../field-absences.ts'
import { OF_CLAIM, OF_KUBELET } from '../pods/evidence.ts'
import { podDeviceType, podInfoType, podNicDeviceType } from '../pods/type.ts'
import type { SourceContext } from '../source.ts'
import type { ApiPod } from './api-pod.ts'
import type { ContainerDevice } from './held-devices.ts'
import type { ContainerNic } from './held-nics.ts'

const NO_API = 'the kubelet does not report it, and the API server is not read'
const NOT_TOLD = 'the API server does not report it of this pod'
const GONE = 'neither kubelet nor API server list it any more'

/** A pod to report: its name, and its facts if the API server is read. */
export interface ReportedPod {
  readonly namespace: string
  readonly pod: string
  readonly facts: ApiPod | undefined
}

/** All pods of the node, with what their containers hold. */
export interface ReportedPods {
  readonly pods: Iterable<ReportedPod>
  readonly devices: Iterable<ContainerDevice>
  readonly nics: Iterable<ContainerNic>
}

/** Labels of pods that are reported as they are. */
export interface CopiedKeys {
  readonly keys: readonly string[]
  /** Labels of one pod at most. Policy: the first in the order of the keys. */
  readonly limit: number
}

/** Reports the rows of pods and of their devices, and the end of rows. */
export class PodRows {
  readonly #context: SourceContext
  readonly #nodeName: string
  readonly #copied: CopiedKeys
  #rows = new Map<string, Row>()
  #before: ReadonlyMap<string, Row> = new Map()

  /** @param copied Which labels are reported as they are. Default: none. */
  constructor(context: SourceContext, nodeName: string, copied: CopiedKeys = { keys: [], limit: 0 }) {
    this.#context = context
    this.#copied = copied
    this.#nodeName = nodeName
  }

  /** Reports all pods and devices. Rows of the previous report that are not among them are gone. */
  report({ pods, devices, nics }: ReportedPods, time: bigint): void {
    this.#before = this.#rows
    this.#rows = new Map()
    for (const pod of pods) this.#reportPod(pod, time)
    for (const { claim, labels, doubt, resource, id } of devices) {
      const { via } = claim ? OF_CLAIM : OF_KUBELET
      this.#report(podDeviceType, labels, { time, via, resource, device_id: id, doubt, present: 1 }, '')
    }
    for (const { labels, values } of nics) this.#report(podNicDeviceType, labels, { time, ...values }, '')
    for (const [key, row] of this.#before) if (!this.#rows.has(key)) row.leave(GONE)
  }

  /** The kubelet does not answer: it is not known which devices the pods hold now. */
  fail(reason: string): void {
    for (const row of this.#rows.values()) row.fail(reason)
  }

  #reportPod({ namespace, pod, facts }: ReportedPod, time: bigint): void {
    if (facts === undefined) {
      const texts = {
        app: '',
        service: '',
        app_label: '',
        service_label: '',
        phase: '',
        waiting: '',
        labels: '',
        uid: '',
      }
      const values = { time, ...texts, node_name: this.#nodeName, via: OF_KUBELET.via }
      this.#report(podInfoType, { namespace, pod }, values, NO_API)
      return
    }
    const { labels, node, phase, waiting, uid, startedS, requestedGpus } = facts
    const { app, service, appLabel, serviceLabel } = podAppOf((name) => labels[name] ?? '')
    const values = {
      ...{ time, app, service, app_label: appLabel, service_label: serviceLabel, node_name: node, phase, waiting },
      ...{ via: 'API server', uid, labels: this.#copiedOf(labels) },
      ...(startedS === undefined ? {} : { start_time_seconds: startedS }),
      ...(requestedGpus === 0 ? {} : { requested_gpus: requestedGpus }),
    }
    this.#report(podInfoType, { namespace, pod }, values, NOT_TOLD)
  }

  /** The labels that are copied, as JSON; empty if there are none. */
  #copiedOf(labels: ApiPod['labels']): string {
    const { keys, limit } = this.#copied
    const found = keys.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]] as const]))
    if (found.length > limit) this.#context.dropped('pod_label_limit', found.length - limit)
    const kept = found.slice(0, limit)
    return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept))
  }

  /** Each series is reported once. */
  #report(type: RecordType, labels: Labels, values: object, lack: string): void {
    const key = `${type.name} ${JSON.stringify(Object.values(labels))}`
    if (this.#rows.has(key)) return
    const row = this.#before.get(key) ?? new Row(this.#context, type, labels)
    this.#rows.set(key, row)
    row.report(values, lack)
  }
}

/** One series of a pod. */
class Row {
  readonly #context: SourceContext
  readonly #type: RecordType
  readonly #labels: Labels
  readonly #absences: FieldAbsences

  constructor(context: SourceContext, type: RecordType, labels: Labels) {
    this.#context = context
    this.#type = type
    this.#labels = labels
    this.#absences = new FieldAbsences(context.absences, type, labels)
  }

  report(values: object, lack: string): void {
    const record = { ...this.#labels, ...values }
    this.#absences.present('')
    this.#absences.tell(record, lack)
    this.#context.source.report(this.#type, record as never)
  }

  fail(reason: string): void {
    this.#absences.absent('', 'failed', reason)
  }

  leave(reason: string): void {
    this.#context.absences.gone(this.#type, this.#labels, reason)
  }
}
