import { hostname } from 'node:os'
import type { Labels, RecordType } from '@sonde/sdk'
import { FieldAbsences } from '../field-absences.ts'
import { podDeviceType, podInfoType } from '../pods/type.ts'
import type { SourceContext } from '../source.ts'
import { parseDeviceId } from './device-id.ts'
import type { DeviceNames, ResolvedDevice } from './device-names.ts'
import type { AllocatedDevice, PodResources } from './parse.ts'

const VIA = 'kubelet'
const NO_API = 'the kubelet does not report it, and the API server is not read'

/** Reports the rows of pods and of their devices, and the end of rows. */
export class PodRows {
  readonly #context: SourceContext
  #rows = new Map<string, Row>()
  #before: ReadonlyMap<string, Row> = new Map()

  constructor(context: SourceContext) {
    this.#context = context
  }

  /** Reports an answer of the kubelet. Rows of the previous answer that it does not have are gone. */
  report(answer: PodResources, names: DeviceNames, time: bigint): void {
    this.#before = this.#rows
    this.#rows = new Map()
    for (const device of answer.devices) {
      const { namespace, pod, container } = device
      const labels = { namespace, pod, container, ...resolved(device, names), Hostname: '' }
      this.#report(podDeviceType, labels, { time, via: VIA, present: 1 })
      this.#report(podInfoType, { namespace, pod }, { time, app: '', service: '', node_name: hostname(), via: VIA })
    }
    for (const [key, row] of this.#before) if (!this.#rows.has(key)) row.leave('the kubelet does not list it any more')
  }

  /** The kubelet does not answer: it is not known which devices the pods hold now. */
  fail(reason: string): void {
    for (const row of this.#rows.values()) row.fail(reason)
  }

  /** A container that holds several replicas of a GPU holds one GPU, so a row is reported once. */
  #report(type: RecordType, labels: Labels, values: object): void {
    const key = `${type.name} ${JSON.stringify(Object.values(labels))}`
    if (this.#rows.has(key)) return
    const row = this.#before.get(key) ?? new Row(this.#context, type, labels)
    this.#rows.set(key, row)
    row.report(values)
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

  report(values: object): void {
    const record = { ...this.#labels, ...values }
    this.#absences.present('')
    this.#absences.tell(record, NO_API)
    this.#context.source.report(this.#type, record as never)
  }

  fail(reason: string): void {
    this.#absences.absent('', 'failed', reason)
  }

  leave(reason: string): void {
    this.#context.absences.gone(this.#type, this.#labels, reason)
  }
}

/** The labels of a device. If its id cannot be resolved, the id itself is in the place of the UUID. */
function resolved({ id }: AllocatedDevice, names: DeviceNames): ResolvedDevice {
  const parsed = parseDeviceId(id)
  return (parsed && names.resolve(parsed)) ?? { UUID: id, GPU_I_ID: '' }
}
