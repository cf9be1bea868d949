import type { AppState, GpuPod } from '@sonde/sdk/api'
import { shellWord, sondeCommand } from '@sonde/sdk/internal'
import { isUnscheduled } from './gaps.ts'
import type { AnswerOrigin, AppsOrigin, GpuReaderState, ReaderStates } from './origin.ts'

/** The state, and the advice for it. */
export interface AppAdvice {
  readonly state: AppState
  readonly summary: string
  readonly advice: readonly string[]
}

/** What decides the state beside the pods. */
export interface StateFacts {
  /** Undefined: they are unknown. */
  readonly readers?: ReaderStates
  /** Default: `agent`. */
  readonly place?: AnswerOrigin
  /** Whether the parameter `gpu_observability_enable` is on. Default: yes. */
  readonly isEnabled?: boolean
}

/** What an origin knows of {@link StateFacts} now. */
export async function stateFacts({ readers, place, isEnabled }: AppsOrigin): Promise<StateFacts> {
  return { readers: await readers?.(), ...(place !== undefined && { place }), isEnabled: isEnabled?.() !== false }
}

const SIMULATE = `To see the page with a simulated node: ${sondeCommand()} up --simulate`

/** How to have exporters read that run already. */
const ADD_EXPORTER: Readonly<Record<AnswerOrigin, readonly string[]>> = {
  agent: [
    'With a driver of NVIDIA on this machine, add it: data_sources: [{type: nvml}]',
    'Where dcgm-exporter runs, add it: data_sources: [{type: dcgm_exporter, addresses: ["http://NODE:9400/metrics"]}]',
    SIMULATE,
  ],
  prometheus: ['Where dcgm-exporter runs, let the Prometheus scrape it: job_name: dcgm-exporter'],
}

const ENABLE: readonly string[] = [
  `To enable it in a cluster: ${sondeCommand()} params set gpu_observability_enable=true nvidia_device_plugin_enable=true`,
  `To install what it needs: ${sondeCommand()} manifests gpu-stack`,
]

const NOT_ENABLED = 'GPU observability is not enabled'

function noSource({ place = 'agent', isEnabled }: StateFacts): AppAdvice {
  const advice = ADD_EXPORTER[place]
  return isEnabled === false
    ? { state: 'no_source', summary: `${NOT_ENABLED}, and nothing here reads GPUs.`, advice: [...ENABLE, ...advice] }
    : { state: 'no_source', summary: 'Nothing here reads GPUs.', advice }
}

const SWITCHED_OFF: AppAdvice = {
  state: 'disabled',
  summary: 'The GPU scraper is switched off, so no exporter is read.',
  advice: [
    `To switch it on, on the page Settings or by a command: ${sondeCommand()} params set gpu_scraper_enable=true`,
  ],
}

/** Number of reasons that the advice for pods without numbers quotes. */
const REASONS_MAX = 3
const AGAIN = 'Ask again in a minute; the page does so by itself.'

/**
 * The state of an app's page: the first state that applies.
 *
 * @param knowsRequests Whether the GPU requests of pods are known.
 */
export function stateOf(app: string, pods: readonly GpuPod[], facts: StateFacts, knowsRequests: boolean): AppAdvice {
  const { readers, place = 'agent', isEnabled } = facts
  const hasNumbers = pods.some(
    ({ values, deviceValues }) =>
      Object.values(values).some((value) => value !== null) || Object.keys(deviceValues).length > 0,
  )
  if (hasNumbers) return { state: 'ready', summary: '', advice: [] }
  if (readers !== undefined) {
    if (readers.length === 0) return noSource(facts)
    const starting = readers.find(({ state }) => state === 'starting')
    if (pods.length === 0 && starting !== undefined) {
      return {
        state: 'warming',
        summary: `${starting.name} is starting. Numbers come within 90 seconds.`,
        advice: [AGAIN],
      }
    }
    const failing = readers.find(({ state }) => state === 'failing')
    const isReading = readers.some(({ state }) => state === 'reading')
    if (!isReading && failing !== undefined) {
      return {
        state: 'disabled',
        summary: `${failing.name} cannot read GPUs: ${failing.reason}.`,
        advice: [`To see why: ${sondeCommand()} explain ${failing.name}`],
      }
    }
    if (!isReading && readers.some(({ state }) => state === 'off')) return SWITCHED_OFF
    if (!isReading) {
      const asked = `asked: ${readers.map(foundWords).join('; ')}.`
      return {
        state: 'no_node',
        summary: isEnabled === false ? `${NOT_ENABLED}; ${asked}` : `No node with a GPU is seen; ${asked}`,
        advice: [
          ...(isEnabled === false ? ENABLE : []),
          'Sonde asks again by itself.',
          ...readers.map(({ name }) => `To see why: ${sondeCommand()} explain ${name}`),
        ],
      }
    }
  }
  if (pods.length === 0) return noPods(app, knowsRequests, place)
  if (pods.every(({ isWarming }) => isWarming)) {
    return {
      state: 'warming',
      summary: 'The pods have just started. Numbers come within 90 seconds.',
      advice: [AGAIN],
    }
  }
  if (pods.every(isUnscheduled)) {
    return {
      state: 'late',
      summary: 'The pods ask for GPUs and have no node: they wait to be scheduled.',
      advice: [`To see what they wait for: ${describeCommand(pods)}`],
    }
  }
  return {
    state: 'late',
    summary: pods.every(({ startedMs }) => startedMs === null)
      ? 'No number of the pods is known.'
      : 'The pods have run for over 90 seconds, and no number came.',
    advice: lateAdvice(pods, readers ?? [], place),
  }
}

function describeCommand(pods: readonly GpuPod[]): string {
  const { namespace = '', name = '' } = pods[0] ?? {}
  return `kubectl describe pod -n ${shellWord(namespace)} ${shellWord(name)}`
}

/** A reader and its result, so that the user need not search for it elsewhere. */
function foundWords({ name, reason }: GpuReaderState): string {
  return reason === '' ? name : `${name} (${reason})`
}

/** The source that knows the GPU requests of pods, and how to enable it. */
const REQUESTS: Readonly<Record<AnswerOrigin, string>> = {
  agent:
    'To see pods that ask for a GPU and got none, read kube-state-metrics: data_sources: [{type: kube_state_metrics, addresses: ["http://HOST:8080/metrics"]}]',
  prometheus:
    'To see pods that ask for a GPU and got none, let the Prometheus scrape kube-state-metrics: kube_pod_container_resource_requests',
}

function noPods(app: string, knowsRequests: boolean, place: AnswerOrigin): AppAdvice {
  const ask = 'A pod asks for a GPU by its limits: resources: {limits: {nvidia.com/gpu: 1}}'
  if (knowsRequests) return { state: 'no_pods', summary: `No pod of ${app} asks for a GPU.`, advice: [ask] }
  const summary = `No pod of ${app} is known to hold a GPU.`
  return { state: 'no_pods', summary, advice: [ask, REQUESTS[place]] }
}

/** Commands that show the pods of a component, by its way of installation. */
const EXPORTER_PODS = [
  'The exporters, where the GPU Operator runs them: kubectl get pods -A -l app=nvidia-dcgm-exporter',
  'The exporters, where their own chart does: kubectl get pods -A -l app.kubernetes.io/name=dcgm-exporter',
]
const PLUGIN_PODS = [
  'The device plugin, where the GPU Operator runs it: kubectl get pods -A -l app=nvidia-device-plugin-daemonset',
  'The device plugin, where its own chart does: kubectl get pods -A -l app.kubernetes.io/name=nvidia-device-plugin',
]

/** The failing hop, in the words of its source; for pods without a device, how to check their device plugin. */
function lateAdvice(pods: readonly GpuPod[], readers: readonly GpuReaderState[], place: AnswerOrigin): string[] {
  const unheld = pods.filter(({ gpus }) => gpus === 0)
  const held = pods.filter(({ gpus }) => gpus > 0)
  const said = readers.filter(({ reason }) => reason !== '').map((reader) => `Asked: ${foundWords(reader)}.`)
  const names = unheld.map(({ name }) => name).slice(0, 5)
  const more = unheld.length > names.length ? ` and ${unheld.length - names.length} more` : ''
  const unheldWords =
    unheld.length === 0
      ? []
      : [
          `It is not known which GPU these pods hold: ${names.join(', ')}${more}.`,
          'An exporter tells it, and knows it from the device plugin.',
          `To see whether they run: ${describeCommand(unheld)}`,
        ]
  const hop =
    place === 'agent'
      ? `To see each hop: ${sondeCommand()} explain DCGM_FI_DEV_GPU_UTIL`
      : 'To see which exporters do not answer, ask the Prometheus: up == 0'
  const plugin = unheld.length > 0 ? PLUGIN_PODS : []
  return [...reasonsOf(held), ...said, ...unheldWords, ...EXPORTER_PODS, ...plugin, hop]
}

/** The reasons why pods have no numbers, each once. */
function reasonsOf(pods: readonly GpuPod[]): string[] {
  const reasons = new Set(pods.flatMap(({ gaps }) => gaps.map(({ reason }) => reason)))
  return [...reasons].slice(0, REASONS_MAX).map((reason) => `${reason[0]?.toUpperCase()}${reason.slice(1)}.`)
}
