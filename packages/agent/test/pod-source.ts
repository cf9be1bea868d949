import { type RecordOf, type RecordType, wallNs } from '@sonde/sdk'
import * as v from 'valibot'
import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType } from '../src/sources/nvml/type.ts'
import { podNicType } from '../src/sources/pod-nics/type.ts'
import { podDeviceType, podInfoType, podShareType } from '../src/sources/pods/type.ts'
import { gpuProcessType } from '../src/sources/processes/type.ts'
import { rdmaPortType } from '../src/sources/rdma/type.ts'
import { sampled } from '../src/sources/sampled.ts'
import type { SourceContext, SourceDefinition } from '../src/sources/source.ts'

/** The rows that are made of these records, for tests of other packages. */
export { appGpuType, podGpuType } from '../src/pods/type.ts'

/** A pod of a test, and the GPUs that it holds; a GPU without values is reported by nobody. */
export interface TestPod {
  readonly app: string
  readonly service: string
  readonly pod: string
  /** Default: `ml`. */
  readonly namespace?: string
  /** Seconds since the Unix epoch. Default: long ago. */
  readonly startedS?: number
  /** Default: unknown. */
  readonly node?: string
  /** Phase, and why it waits, in words of Kubernetes. Default: unknown. */
  readonly phase?: string
  readonly waiting?: string
  /** Default: the GPUs that it holds. */
  readonly requested?: number
  readonly gpus: readonly { readonly UUID: string; readonly values?: Readonly<Record<string, number>> }[]
  /** Origin of its GPUs. Default: `test`, which nobody knows. */
  readonly via?: string
  /** More records of the pod: fields by type. Default: none. */
  readonly more?: readonly { readonly type: MoreType; readonly fields: Readonly<Record<string, unknown>> }[]
}

/** Types of further records; of ports, the counters of bytes rise by themselves. */
type MoreType = 'nvml_gpu_info' | 'pod_nic' | 'gpu_process' | 'pod_share' | 'rdma_port'

const MORE_TYPES: Readonly<Record<MoreType, RecordType>> = {
  nvml_gpu_info: nvmlGpuInfoType,
  pod_nic: podNicType,
  gpu_process: gpuProcessType,
  pod_share: podShareType,
  rdma_port: rdmaPortType,
}

/** What the source sees: whether there are GPUs at all, and the pods. */
export interface TestPods {
  readonly probe?: 'present' | 'absent' | 'denied'
  readonly pods: readonly TestPod[]
}

const LONG_AGO_S = 1_700_000_000
const PROFILE = new Set(nvmlProfileType.layout.slots.map(({ name }) => name))

/** A source of the pods and GPUs that `look` says, at each sample. */
export function podSource(look: () => TestPods, intervalMs = 50): SourceDefinition {
  return {
    name: 'pods_of_test',
    summary: 'Reports the pods and GPUs of a test',
    types: [podInfoType, podDeviceType, nvmlGpuType, nvmlProfileType, ...Object.values(MORE_TYPES)],
    host: 'agent',
    intervalMs,
    options: v.strictObject({}),
    load: async () => ({
      create: (_options, context) =>
        sampled(
          { probe: () => probeOf(look()), sample: () => report(context, look()), close: () => undefined },
          context,
        ),
    }),
  }
}

function probeOf({ probe = 'present' }: TestPods) {
  if (probe === 'present') return { state: probe, found: 'pods' } as const
  return { state: probe, reason: probe === 'absent' ? 'no GPU' : 'the device may not be opened' } as const
}

function report({ source }: SourceContext, { pods }: TestPods): void {
  const put = (type: RecordType, values: Readonly<Record<string, unknown>>) =>
    source.report(type, recordOf(type, values))
  for (const { app, service, pod, namespace = 'ml', startedS = LONG_AGO_S, requested, gpus, ...more } of pods) {
    const { node = '', phase = '', waiting = '', via = 'test', more: records = [] } = more
    const facts = { node_name: node, phase, waiting, via: 'API server', app_label: 'app', service_label: 'service' }
    const numbers = { start_time_seconds: startedS, requested_gpus: requested ?? gpus.length }
    put(podInfoType, { namespace, pod, app, service, ...facts, ...numbers })
    for (const { type, fields } of records) put(MORE_TYPES[type], { namespace, pod, ...fields, ...risen(type) })
    for (const { UUID, values } of gpus) {
      put(podDeviceType, { namespace, pod, container: 'main', UUID, present: 1, via, resource: 'nvidia.com/gpu' })
      if (values === undefined) continue
      put(nvmlGpuType, { gpu: UUID, UUID, ...values })
      if (Object.keys(values).some((name) => PROFILE.has(name))) put(nvmlProfileType, { gpu: UUID, UUID, ...values })
    }
  }
}

/** Bytes of a port, which sends 10 GB/s and receives half of it. */
function risen(type: MoreType): object {
  if (type !== 'rdma_port') return {}
  const bytes = BigInt(Math.floor(performance.now())) * 10_000_000n
  return { xmit_data_bytes_total: bytes, rcv_data_bytes_total: bytes / 2n }
}

/** Fields that are not given are empty, 0 or absent. */
function recordOf<T extends RecordType>(type: T, values: Readonly<Record<string, unknown>>): RecordOf<T> {
  const record: Record<string, unknown> = { time: wallNs() }
  for (const { name, field } of type.layout.slots) {
    if (field.role === 'timestamp') continue
    if (name in values) record[name] = values[name]
    else if (!field.optional) record[name] = field.kind === 'symbol' ? '' : 0
  }
  return record as RecordOf<T>
}
