import { type AppState, type GpuPod, sondeCommand } from '@sonde/sdk/internal'

/** What reads GPUs: a source, or an exporter. */
export interface GpuReader {
  readonly name: string
  /**
   * `starting`: it has not said yet; `reading`: it reports GPUs; `empty`: it runs, and sees none; `failing`: it is
   * there, and cannot read.
   */
  readonly state: 'starting' | 'reading' | 'empty' | 'failing'
  /** A sentence; empty where there is nothing to say. */
  readonly reason: string
}

/** What is the case, and what to do about it. */
export interface Told {
  readonly state: AppState
  readonly summary: string
  readonly advice: readonly string[]
}

const NO_SOURCE: Told = {
  state: 'no_source',
  summary: 'Nothing here reads GPUs.',
  advice: [
    'Where dcgm-exporter runs, add it: data_sources: [{type: dcgm_exporter, addresses: ["http://NODE:9400/metrics"]}]',
    `To see the page with a simulated node: ${sondeCommand()} up --simulate`,
  ],
}

/**
 * The state of an app's page: the first that holds.
 *
 * @param readers Undefined where they cannot be known.
 * @param knowsRequests Whether it is known which pods ask for GPUs.
 */
export function stateOf(
  app: string,
  pods: readonly GpuPod[],
  readers: readonly GpuReader[] | undefined,
  knowsRequests: boolean,
): Told {
  const hasNumbers = pods.some(({ values }) => Object.values(values).some((value) => value !== null))
  if (hasNumbers) return { state: 'ready', summary: '', advice: [] }
  if (readers !== undefined) {
    if (readers.length === 0) return NO_SOURCE
    const starting = readers.find(({ state }) => state === 'starting')
    if (pods.length === 0 && starting !== undefined) {
      return {
        state: 'warming',
        summary: `${starting.name} is starting. Numbers come within 90 seconds.`,
        advice: ['The page looks again by itself.'],
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
    if (!isReading) {
      return {
        state: 'no_node',
        summary: `No node with a GPU is seen; asked: ${readers.map(foundWords).join('; ')}.`,
        advice: [
          'Sonde asks again by itself.',
          ...readers.map(({ name }) => `To see why: ${sondeCommand()} explain ${name}`),
        ],
      }
    }
  }
  if (pods.length === 0) return noPods(app, knowsRequests)
  if (pods.every(({ isWarming }) => isWarming)) {
    return {
      state: 'warming',
      summary: 'The pods have just started. Numbers come within 90 seconds.',
      advice: ['The page looks again by itself.'],
    }
  }
  if (pods.every(isUnscheduled)) {
    return {
      state: 'late',
      summary: 'The pods ask for GPUs, and no start of them is known: they wait to be scheduled.',
      advice: [`To see what they wait for: kubectl describe pod -n ${pods[0]?.namespace} ${pods[0]?.name}`],
    }
  }
  return {
    state: 'late',
    summary: 'The pods have run for over 90 seconds, and no number came.',
    advice: lateAdvice(pods),
  }
}

/** A reader and what it found, so that nobody has to look for that elsewhere. */
function foundWords({ name, reason }: GpuReader): string {
  return reason === '' ? name : `${name} (${reason})`
}

/** Whether a pod asks for a GPU and has not started: nothing on the way to its numbers can be at fault. */
export function isUnscheduled({ gpus, requested, startedMs }: GpuPod): boolean {
  return gpus === 0 && requested !== null && startedMs === null
}

function noPods(app: string, knowsRequests: boolean): Told {
  const ask = 'A pod asks for a GPU by its limits: resources: {limits: {nvidia.com/gpu: 1}}'
  if (knowsRequests) return { state: 'no_pods', summary: `No pod of ${app} asks for a GPU.`, advice: [ask] }
  return {
    state: 'no_pods',
    summary: `No pod of ${app} is known to hold a GPU.`,
    advice: [
      ask,
      'Whether one asks for a GPU and got none is known where kube-state-metrics is scraped: data_sources: [{type: kube_state_metrics, addresses: ["http://HOST:8080/metrics"]}]',
    ],
  }
}

/** Which hop fails: pods without a device were given none; else what reads the devices says nothing. */
function lateAdvice(pods: readonly GpuPod[]): string[] {
  const unheld = pods.filter(({ gpus }) => gpus === 0)
  if (unheld.length > 0) {
    return [
      `It is not known which GPU these pods hold: ${unheld.map(({ name }) => name).join(', ')}.`,
      'An exporter says it, so look first whether that of their nodes answers: kubectl get pods -A -l app.kubernetes.io/name=dcgm-exporter',
      'The exporter has it of the device plugin: kubectl get pods -A -l app.kubernetes.io/name=nvidia-device-plugin',
    ]
  }
  return [
    'What the pods hold is known, and nothing reports these GPUs: the exporter of their node is down, or cannot see them.',
    'Look at it: kubectl get pods -A -l app.kubernetes.io/name=dcgm-exporter',
    `To see each hop: ${sondeCommand()} explain DCGM_FI_DEV_GPU_UTIL`,
  ]
}
