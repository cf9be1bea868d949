import { countOf, labelOf, shellWord, sondeCommand } from '@sonde/sdk/internal'
import { POD_FIELDS } from '../pods/fields.ts'
import { broken, type Finding, fine, type Step } from '../sources/chains/chain.ts'
import { ago } from './ago.ts'
import { fixOf, podStateWords } from './component-steps.ts'
import { hasNumbers, isElsewhere, NINE_METRICS, type PodCase } from './pod-case.ts'
import { targetFinding } from './target-words.ts'

// Links about a pod itself: its state, its devices, its labels and its numbers.

/** A pod that started less than this ago may have no numbers yet. Unit: milliseconds. */
const WARMING_MS = 90_000
/** Devices, reasons and notes in one answer. */
const NAMED_LIMIT = 3
const GPU_LIMITS = 'resources: {limits: {nvidia.com/gpu: 1}}'
const LASTING = 'not possible; the history of its app keeps its numbers'
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed'])
const APP_ADVICE = 'no label names its app: the page of apps shows it without a name; set the label app'

/** Whether anything reads GPUs. */
export function readersStep({ readerNames, numbers }: PodCase): Step {
  return {
    name: 'configuration',
    async check() {
      if (readerNames.length > 0 || numbers.length > 0)
        return fine('data_sources', `${readerNames.join(', ') || 'the agent'} reads GPUs`)
      const fix = 'add "- type: nvml" to data_sources, or dcgm_exporter with the addresses of the exporters'
      return broken('data_sources', 'no source reads GPUs', fix)
    },
  }
}

/** The state of the pod in the API server. */
export function podStep(of: PodCase): Step {
  return { name: 'pod', check: async () => podFinding(of) }
}

function podFinding(of: PodCase): Finding {
  const { pod, namespace, name, entity, cluster, fault, nodeName, attribution } = of
  const tried = cluster?.address ?? 'API server'
  if (pod === undefined) {
    if (entity?.goneMs !== undefined)
      return broken(tried, `it left ${ago(entity.goneMs)}: ${entity.goneReason || 'without a reason'}`, LASTING)
    const why = cluster === undefined ? fault : 'it has no pod of this name'
    const phase = [attribution?.phase, attribution?.waiting].filter(Boolean).join(': ')
    return { state: 'unknown', tried, answer: phase === '' ? why : `${why}; ${phase}` }
  }
  const { phase, node, requestedGpus, claims, startedS, waiting } = pod
  if (ENDED.has(phase)) return broken(tried, `it has ended, as ${phase}; an ended pod holds no GPU`, LASTING)
  const asks = requestedGpus > 0 ? `asks for ${countOf(requestedGpus, 'GPU')}` : 'asks for a device by a claim'
  if (requestedGpus === 0 && !claims && of.devices.length === 0)
    return broken(tried, 'its containers ask for no GPU', `give one of its containers ${GPU_LIMITS}`)
  if (node === '') return broken(tried, `it has no node; ${asks}; ${podStateWords(pod)}`, describe(namespace, name))
  if (isElsewhere(of) && !hasNumbers(of))
    return broken(
      tried,
      `it runs on ${node}, and this agent reads ${nodeName}`,
      `ask the agent of ${node}, or add its exporter to the addresses of dcgm_exporter here`,
    )
  if (phase === 'Pending') return broken(tried, `${podStateWords(pod)}; ${asks}`, describe(namespace, name))
  const since = startedS === undefined ? '' : `, since ${ago(startedS * 1000)}`
  if (waiting !== '' && !hasNumbers(of)) return broken(tried, podStateWords(pod), fixOf(pod))
  return fine(tried, `${waiting === '' ? phase : podStateWords(pod)} on ${node}${since}; ${asks}`)
}

function describe(namespace: string, name: string): string {
  return `kubectl describe pod -n ${shellWord(namespace)} ${shellWord(name)}`
}

/** The devices that the kubelet lists for the pod, and how sure it is that the pod holds them. */
export function devicesStep(of: PodCase): Step {
  return { name: 'PodResources', check: async () => devicesFinding(of) }
}

function devicesFinding({ attribution, devices, kubelet, namespace, name, facts }: PodCase): Finding {
  const tried = `pod_device of ${namespace}/${name}`
  if (devices.length > 0) {
    const words = devices.map((labels) => deviceWords(labelOf(labels, 'UUID'), labelOf(labels, 'GPU_I_ID')))
    const { confidence, from = [], notes = [] } = attribution ?? {}
    const sure = confidence == null ? [] : [`${confidence}, by ${from.join(' and ')}`]
    return fine(tried, [cut([...new Set(words)], ', '), ...sure, ...notes.slice(0, NAMED_LIMIT)].join('; '))
  }
  if (kubelet === undefined) {
    const answer =
      facts === undefined ? 'no agent answers, so its devices are unknown' : 'the source kubernetes does not run'
    return { state: 'unknown', tried, answer }
  }
  const { state, reason, found } = kubelet
  if (state === 'starting') return { state: 'unknown', tried, answer: 'the source kubernetes is starting' }
  if (state !== 'reading') {
    const fix = 'mount the folder /var/lib/kubelet/pod-resources into the pod of Sonde; kubelet_socket names the socket'
    return broken('kubelet', `${state}: ${reason}`, fix)
  }
  return broken(
    'kubelet',
    `it lists no GPU for the pod${found ? `; it lists ${found}` : ''}`,
    'if its plugin has its own name for GPUs, add that to gpu_resources of the source kubernetes',
  )
}

function deviceWords(uuid: string, instance: string): string {
  return instance === '' ? uuid : `instance ${instance} of ${uuid}`
}

/** The app of the pod, and the label that decided it. */
export function labelsStep({ attribution, pod, numbers, cluster, fault }: PodCase): Step {
  return {
    name: 'labels',
    async check() {
      const [series] = numbers
      const app = series === undefined ? '' : labelOf(series.labels, 'app')
      const service = series === undefined ? '' : labelOf(series.labels, 'service')
      const { appLabel = '', labelsFrom = '' } = attribution ?? {}
      if (app !== '') {
        const by = appLabel === '' ? labelsFrom : `label ${appLabel}, from ${labelsFrom}`
        return fine(by || 'pod_gpu', `app ${app}${service === '' ? '' : `, service ${service}`}`)
      }
      if (pod !== undefined) {
        const own = Object.entries(pod.labels).map(([label, value]) => `${label}=${value}`)
        return fine(cluster?.address ?? 'API server', own.length === 0 ? APP_ADVICE : own.join(', '))
      }
      const isFailing = cluster === undefined && fault.startsWith('the API server http')
      if (isFailing) return broken('API server', fault, 'correct the cause in the reason; Sonde retries by itself')
      return { state: 'unknown', tried: 'API server', answer: cluster === undefined ? fault : APP_ADVICE }
    },
  }
}

/** The numbers of the GPUs of the pod, or why there are none. */
export function scrapeStep(of: PodCase): Step {
  return { name: 'scrape', check: () => scrapeFinding(of) }
}

async function scrapeFinding(of: PodCase): Promise<Finding> {
  const { numbers, readers, place, namespace, name, facts, devices } = of
  const tried = `pod_gpu of ${namespace}/${name}`
  const nine = numbers.filter(({ metric }) => NINE_METRICS.has(metric))
  const absent = nine.filter(({ value }) => value === null)
  const reasons = cut([...new Set(absent.map(({ absent: reason }) => reason))], '; ')
  if (nine.length > absent.length) {
    const newestMs = Math.max(...nine.map(({ timeMs }) => timeMs))
    const lacking = absent.length === 0 ? '' : `; absent: ${reasons}`
    return fine(
      tried,
      `${nine.length - absent.length} of ${countOf(POD_FIELDS.length, 'number')}, newest ${ago(newestMs)}${lacking}`,
    )
  }
  const startedMs = (of.pod?.startedS ?? 0) * 1000
  if (Date.now() - startedMs < WARMING_MS)
    return { state: 'unknown', tried, answer: `it started ${ago(startedMs)}; numbers come within 90 s` }
  const xid = await xidWords(of)
  const [ill] = readers.flatMap((reader) => targetFinding(reader, `${reader.name} at ${place}`) ?? [])
  if (absent.length === 0 && ill !== undefined) return ill
  if (xid !== '' || absent.length > 0) {
    const uuid = labelOf(devices[0] ?? {}, 'UUID')
    const fix = `drain the node and reset the GPU, or reboot; ${sondeCommand()} explain ${shellWord(uuid || `${namespace}/${name}`)}`
    const why = xid === '' ? `${sondeCommand()} explain DCGM_FI_DEV_GPU_UTIL` : fix
    return broken(tried, [reasons, xid].filter(Boolean).join('; ') || 'no number', why)
  }
  // One sample of each source does not join pods with GPUs.
  if (facts?.attributions === undefined)
    return { state: 'unknown', tried, answer: 'no agent answers, so its numbers are unknown' }
  const failing = readers.filter(({ state }) => state !== 'reading')
  const words = failing.map(({ name, state, reason }) => `${name}: ${[state, reason].filter(Boolean).join(', ')}`)
  const answer = ['no number of its GPUs came', ...words].join('; ')
  return broken(tried, answer, exporterAdvice(of) ?? `${sondeCommand()} explain DCGM_FI_DEV_GPU_UTIL`)
}

/** A GPU with an XID error may report nothing. */
async function xidWords({ facts, devices }: PodCase): Promise<string> {
  const uuids = new Set(devices.map((labels) => labelOf(labels, 'UUID')))
  const errors = (await facts?.series({ metric: XID_METRIC })) ?? []
  const ofPod = errors.filter(({ labels, value }) => uuids.has(labelOf(labels, 'UUID')) && Number(value) > 0)
  return cut(
    ofPod.map(({ labels, value }) => `last XID of ${labelOf(labels, 'UUID')}: ${value}`),
    '; ',
  )
}

const XID_METRIC = 'DCGM_FI_DEV_XID_ERRORS'

/** How to read the exporter, if no source of this agent does. */
function exporterAdvice({ readerNames }: PodCase): string | undefined {
  return readerNames.includes('dcgm_exporter')
    ? undefined
    : `${sondeCommand()} explain nvml; or add dcgm_exporter with the address of the exporter of its node to data_sources`
}

function cut(words: readonly string[], between: string): string {
  const more = words.length - NAMED_LIMIT
  return [...words.slice(0, NAMED_LIMIT), ...(more > 0 ? [`and ${more} more`] : [])].join(between)
}
