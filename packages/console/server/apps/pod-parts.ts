import type { Labels } from '@sonde/sdk'
import type { DeviceOfPod, GpuOfPod, NicOfPod, PodDetails, PodName, ProcessOfPod } from '@sonde/sdk/api'
import { namespacedName, type QueryAnswer, type SeriesAnswer, type SeriesQuery } from '@sonde/sdk/internal'
import { requestOfNow } from './now.ts'
import type { AppsOrigin } from './origin.ts'
import { podMatchers } from './pods.ts'

/** Series about the parts of a pod. */
const METRICS = {
  devices: 'pod_device_present',
  nics: 'pod_nic_info',
  functions: 'pod_nic_device_info',
  memory: 'gpu_process_memory_used_bytes',
  util: 'gpu_process_util_ratio',
  info: 'pod_info',
} as const

type Part = keyof typeof METRICS

/** Labels that a server adds to the series of a target; they tell nodes apart. */
const TARGET_LABELS = ['job', 'instance'] as const

/** How far back the last values before the end of a pod are. Unit: milliseconds. */
const BEFORE_END_MS = 60_000

/** The moment of parts. */
interface PartsMoment {
  /** Unit: milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Whether the pod ended then, so that the last values before count. */
  readonly isEnd: boolean
  readonly details: ReadonlyMap<string, PodDetails>
}

/** Devices, interfaces and processes of a pod at a time, and its node then, from any history. */
export async function partsAt(
  { history, processes }: Pick<AppsOrigin, 'history' | 'processes'>,
  pod: PodName,
  { atMs, isEnd, details }: PartsMoment,
): Promise<{ node: string; devices: DeviceOfPod[]; nics: NicOfPod[]; processes: readonly ProcessOfPod[] }> {
  const queries = Object.values(METRICS).map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers: podMatchers(pod), by: undefined, aggregate: 'sum' }
  })
  const now = requestOfNow(atMs, queries)
  const { results } = await history.query(isEnd ? { ...now, fromMs: now.toMs - BEFORE_END_MS } : now)
  const seriesOf = (part: Part) => currentSeries(results, METRICS[part])
  const read = processes?.(pod) ?? []
  return {
    node: seriesOf('info').find(({ labels }) => labels.node_name)?.labels.node_name ?? '',
    devices: devicesOf(pod, details, seriesOf('devices')),
    nics: nicsOf(seriesOf('nics'), seriesOf('functions')),
    processes: (read.length > 0 ? [...read] : processesOf(seriesOf('memory'), seriesOf('util'))).sort(byMemory),
  }
}

/** The series of a metric with a value, each with its last. */
function currentSeries(results: QueryAnswer['results'], metric: string): (SeriesAnswer & { readonly value: number })[] {
  const found = results.find((result) => result.metric === metric)?.series ?? []
  return found.flatMap((series) => {
    const value = series.values.findLast((value) => !Number.isNaN(value))
    return value === undefined ? [] : [{ ...series, value }]
  })
}

type Current = ReturnType<typeof currentSeries>

function devicesOf(pod: PodName, details: ReadonlyMap<string, PodDetails>, present: Current): DeviceOfPod[] {
  const own = namespacedName(pod.namespace, pod.name)
  const held = details.get(own)?.gpus ?? distinctGpus(present)
  const others = Map.groupBy(
    [...details].flatMap(([name, { gpus }]) => (name === own ? [] : gpus.map((gpu) => ({ name, key: gpuKeyOf(gpu) })))),
    ({ key }) => key,
  )
  return held.map((gpu) => {
    const containers = present
      .filter(({ labels }) => labels.UUID === gpu.uuid && (labels.GPU_I_ID ?? '') === gpu.instance)
      .map(({ labels }) => labels.container ?? '')
    return {
      ...gpu,
      containers: [...new Set(containers)].filter((name) => name !== '').sort(),
      sharedWith: (others.get(gpuKeyOf(gpu)) ?? []).map(({ name }) => podNameOf(name)),
    }
  })
}

/** The devices of series of which nothing else is known. */
function distinctGpus(present: Current): GpuOfPod[] {
  const gpus = present.map(({ labels: { Hostname = '', UUID = '', GPU_I_ID = '' } }): GpuOfPod => {
    return { host: Hostname, uuid: UUID, instance: GPU_I_ID, via: '', confidence: null, doubt: '', resource: '' }
  })
  return [...new Map(gpus.map((gpu) => [gpuKeyOf(gpu), gpu])).values()]
}

function gpuKeyOf({ host, uuid, instance }: GpuOfPod): string {
  return JSON.stringify([host, uuid, instance])
}

/** The pod of a `namespacedName`. Names of namespaces have no slash. */
function podNameOf(text: string): PodName {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** Interfaces, and functions that the kubelet allocated and no interface is known of. */
function nicsOf(interfaces: Current, functions: Current): NicOfPod[] {
  const nics = interfaces.map(({ labels }) => nicOf(labels))
  const addresses = new Set(nics.map(({ pciAddress }) => pciAddress))
  const others = functions.map(({ labels }) => nicOf(labels)).filter(({ pciAddress }) => !addresses.has(pciAddress))
  const resources = new Map(functions.map(({ labels }) => [labels.pci_address ?? '', labels.resource ?? '']))
  const all = [...nics.map((nic) => ({ ...nic, resource: resources.get(nic.pciAddress) ?? '' })), ...others]
  return all.sort((a, b) => (nicKeyOf(a) < nicKeyOf(b) ? -1 : 1))
}

function nicKeyOf({ interface: name, pciAddress, rdmaDevice }: NicOfPod): string {
  return [name, pciAddress, rdmaDevice].join(' ')
}

function nicOf(labels: Labels): NicOfPod {
  const { rdma_device: rdmaDevice = '', no_counters: noCounters = '' } = labels
  return {
    interface: labels.interface ?? '',
    resource: labels.resource ?? '',
    driver: labels.driver ?? '',
    pciAddress: labels.pci_address ?? '',
    rdmaDevice,
    physicalFunction: labels.physical_function ?? '',
    hostInterface: labels.host_interface ?? '',
    noCounters,
    rdmaLabels: rdmaDevice !== '' && noCounters === '' ? { rdma_device: rdmaDevice, ...targetLabels(labels) } : null,
  }
}

/** Several nodes may have an RDMA device of one name; the target of their series tells them apart. */
function targetLabels(labels: Labels): Labels {
  return Object.fromEntries(
    TARGET_LABELS.flatMap((name) => {
      const value = labels[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function processesOf(memory: Current, util: Current): ProcessOfPod[] {
  const byKey = new Map<string, ProcessOfPod>()
  for (const [field, series] of [
    ['memoryBytes', memory],
    ['util', util],
  ] as const) {
    for (const { labels, value } of series) {
      const { pid = '', container = '', UUID: uuid = '', GPU_I_ID: instance = '' } = labels
      const key = JSON.stringify([pid, uuid, instance])
      const none = { pid: Number(pid), name: '', container, uuid, instance, memoryBytes: null, util: null }
      byKey.set(key, { ...(byKey.get(key) ?? none), [field]: field === 'util' ? value * 100 : value })
    }
  }
  return [...byKey.values()]
}

/** Order of processes: those with the most memory first. */
function byMemory(a: ProcessOfPod, b: ProcessOfPod): number {
  return (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0) || a.pid - b.pid
}
