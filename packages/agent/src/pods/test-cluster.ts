import { type Batch, type Labels, type ReadRecord, type RecordType, readRecords, viewsOf } from '@sonde/sdk'
import { NodeRecords } from '../devices/test-node-records.ts'
import { nvmlGpuType, nvmlMigType, nvmlProfileType } from '../sources/nvml/type.ts'
import { podDeviceType, podInfoType } from '../sources/pods/type.ts'
import { PodGpus, type PodGpusOptions } from './pod-gpus.ts'

/** Longer than the records of one sample are apart. Unit: milliseconds. */
const SETTLE_MS = 150

/** Special properties of a source of a test. */
export interface MadeSource {
  /** Default: this host. */
  readonly host?: string
  readonly labels?: Labels
  /** Default: 1000; 0: it does not say how often it reports. */
  readonly intervalMs?: number
}

/** A pod as a test names it. */
export interface MadePod {
  readonly namespace?: string
  readonly app?: string
  readonly service?: string
  readonly start_time_seconds?: number
  /** JSON. */
  readonly labels?: string
  readonly requested_gpus?: number
}

/** Pods and GPUs of nodes, joined by a {@link PodGpus} on a clock that a test sets. */
export class TestCluster {
  nowMs = 1000
  readonly pods: PodGpus
  /** Also receives the batches of sources. */
  onBatch: (batch: Batch) => void = () => undefined
  /** Everything that was emitted. */
  readonly emitted: Batch[] = []
  readonly #rows = new Map<string, ReadRecord[]>()

  /**
   * @param isTurnOver Default: never, so that rows are there when a test looks, however slow the machine is.
   * @param more Default: no place of a device is known, and nobody follows the pods.
   */
  constructor(isTurnOver: () => boolean = () => false, more: Pick<PodGpusOptions, 'onPods' | 'places'> = {}) {
    this.pods = new PodGpus({
      ...more,
      host: 'here',
      emit: (batch) => this.#note(batch),
      isTurnOver,
      failed: (error) => {
        throw error
      },
    })
  }

  /** A source whose batches arrive now. */
  source({ host, labels, intervalMs = 1000 }: MadeSource = {}): GpuNode {
    const infos = new Map<object, Batch['source']>()
    const accept = (batch: Batch) => {
      const info = infos.get(batch.source) ?? (host === undefined ? batch.source : { ...batch.source, host })
      infos.set(batch.source, info)
      this.pods.accept({ ...batch, source: info, arrivedMs: this.nowMs })
      this.onBatch(batch)
    }
    return new GpuNode(new NodeRecords({ accept }, labels, intervalMs))
  }

  /** The rows of the sample that has just come. */
  settle(): void {
    this.#rows.clear()
    this.nowMs += SETTLE_MS
    this.pods.evaluate(this.nowMs)
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.nowMs += ms
  }

  /** Rows of a type that the last sample gave, in the order of their names. */
  rows(type: 'pod_gpu' | 'pod_gpu_nic' | 'app_gpu' | 'sonde_absence'): readonly ReadRecord[] {
    const nameOf = ({ app, service, namespace, pod }: ReadRecord) => JSON.stringify([app, service, namespace, pod])
    return (this.#rows.get(type) ?? []).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  }

  /** The row of a pod; undefined if there is none. */
  pod(name: string): ReadRecord | undefined {
    return this.rows('pod_gpu').find(({ pod }) => pod === name)
  }

  /** The row of a service; undefined if there is none. */
  service(name: string): ReadRecord | undefined {
    return this.rows('app_gpu').find(({ service }) => service === name)
  }

  /** Types and series that the last sample reported as gone. */
  gone(): string[] {
    return this.rows('sonde_absence').map(({ type, series, code }) => `${type}{${series}} ${code}`)
  }

  #note({ type, bytes, count, symbols, source, ...rest }: Batch): void {
    this.emitted.push({ type, bytes: bytes.slice(), count, symbols, source, ...rest })
    const rows = this.#rows.get(type.name) ?? []
    for (const record of readRecords(type, viewsOf(bytes), count, symbols)) {
      rows.push({ ...source.labels, ...record } as ReadRecord)
    }
    this.#rows.set(type.name, rows)
  }
}

/** The reports of a node about its GPUs and pods. */
export class GpuNode {
  readonly records: NodeRecords

  constructor(records: NodeRecords) {
    this.records = records
  }

  /** Records of a GPU by its UUID; what is not given is 0, or absent if it may be. */
  gpu(UUID: string, values: Readonly<Record<string, unknown>> = {}): this {
    return this.report(nvmlGpuType, { gpu: '0', UUID, ...values })
  }

  profile(UUID: string, values: Readonly<Record<string, unknown>>): this {
    return this.report(nvmlProfileType, { gpu: '0', UUID, ...values })
  }

  instance(UUID: string, id: number, values: Readonly<Record<string, unknown>> = {}): this {
    return this.report(nvmlMigType, { gpu: '0', UUID, GPU_I_ID: id, GPU_I_PROFILE: '1g.10gb', ...values })
  }

  /** A pod, and the GPUs that it holds by their UUID; `UUID/id` is an instance. */
  pod(pod: string, { namespace = 'ml', ...info }: MadePod, ...devices: readonly string[]): this {
    this.report(podInfoType, { app: 'chat', service: 'decode', ...info, namespace, pod })
    return this.holds(pod, namespace, ...devices)
  }

  /** The devices of a pod alone, as a source of the given origin reports them. */
  claims(
    pod: string,
    { via, doubt = '' }: { readonly via: string; readonly doubt?: string },
    ...uuids: string[]
  ): this {
    for (const UUID of uuids)
      this.report(podDeviceType, {
        namespace: 'ml',
        pod,
        container: 'main',
        UUID,
        GPU_I_ID: '',
        via,
        doubt,
        present: 1,
      })
    return this
  }

  /** The devices of a pod alone. */
  holds(pod: string, namespace: string, ...devices: readonly string[]): this {
    for (const device of devices) {
      const [UUID = '', GPU_I_ID = ''] = device.split('/')
      this.report(podDeviceType, { namespace, pod, container: 'main', UUID, GPU_I_ID, present: 1 })
    }
    return this
  }

  /** A whole answer had neither the pod nor its devices. */
  gone(pod: string, namespace: string, ...devices: readonly string[]): this {
    for (const UUID of devices) {
      const labels = { namespace, pod, container: 'main', UUID, GPU_I_ID: '', Hostname: '' }
      this.records.gone(podDeviceType, labels)
    }
    this.records.gone(podInfoType, { namespace, pod })
    return this
  }

  report(type: RecordType, values: Readonly<Record<string, unknown>>): this {
    this.records.report(type, values)
    return this
  }
}
