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
  own: 'pod_nic_own',
  memory: 'gpu_process_memory_used_bytes',
  util: 'gpu_process_util_ratio',
} as const

type Part = keyof typeof METRICS

/** Labels that a server adds to the series of a target; they tell nodes apart. */
const TARGET_LABELS = ['job', 'instance'] as const

/** Devices, interfaces and processes of a pod at a time, from any history. */
export async function partsAt(
  { history, processes }: Pick<AppsOrigin, 'history' | 'processes'>,
  pod: PodName,
  { atMs, details }: { readonly atMs: number; readonly details: ReadonlyMap<string, PodDetails> },
): Promise<{ devices: DeviceOfPod[]; nics: NicOfPod[]; processes: readonly ProcessOfPod[] }> {
  const queries = Object.values(METRICS).map((metric): SeriesQuery => {
    return { metric, function: 'last', matchers: podMatchers(pod), by: undefined, aggregate: 'sum' }
  })
  const { results } = await history.query(requestOfNow(atMs, queries))
  const seriesOf = (part: Part) => currentSeries(results, METRICS[part])
  const read = processes?.(pod) ?? []
  return {
    devices: devicesOf(pod, details, seriesOf('devices')),
    nics: nicsOf(seriesOf('nics'), seriesOf('own')),
    processes: (read.length > 0 ? [...read] : processesOf(seriesOf('memory'), seriesOf('util'))).sort(byMemory),
  }
}

/** The series of a metric with a value now. */
function currentSeries(results: QueryAnswer['results'], metric: string): (SeriesAnswer & { readonly value: number })[] {
  const found = results.find((result) => result.metric === metric)?.series ?? []
  return found.flatMap((series) => {
    const value = series.values[series.values.length - 1] ?? Number.NaN
    return Number.isNaN(value) ? [] : [{ ...series, value }]
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

function nicsOf(infos: Current, own: Current): NicOfPod[] {
  const nics = infos.map(({ labels }): NicOfPod => {
    const { interface: name = '', rdma_device: rdmaDevice = '' } = labels
    const isOwn = own.some((one) => one.labels.interface === name && one.value === 1)
    return {
      interface: name,
      driver: labels.driver ?? '',
      pciAddress: labels.pci_address ?? '',
      rdmaDevice,
      physicalFunction: labels.physical_function ?? '',
      hostInterface: labels.host_interface ?? '',
      isOwn,
      rdmaLabels: isOwn && rdmaDevice !== '' ? { rdma_device: rdmaDevice, ...targetLabels(labels) } : null,
    }
  })
  return nics.sort((a, b) => (a.interface < b.interface ? -1 : 1))
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
