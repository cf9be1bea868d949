import { countOf, messageOf, shellWord, sondeCommand } from '@sonde/sdk/internal'
import { readLine } from '../sources/chains/attributes.ts'
import { broken, type Finding, fine, type Step } from '../sources/chains/chain.ts'
import { type ChainContext, ReadRefusal } from '../sources/chains/chain-context.ts'
import type { ClusterView, NodeDetail } from '../sources/kubernetes/cluster-view.ts'
import type { DaemonSetDetail } from '../sources/kubernetes/daemon-set.ts'
import type { Component, PodDetail } from '../sources/kubernetes/pod-detail.ts'
import { hasNumbers, isElsewhere, type PodCase } from './pod-case.ts'

// Links about the programs on the node of a pod: the driver, the device plugin, and dcgm-exporter.

/** dcgm-exporter is not ready before. Unit: milliseconds. */
const STARTING_MS = 60_000
/** Sources by what they read. */
const [BY_DRIVER, BY_EXPORTER] = ['nvml', 'dcgm_exporter']

const unknown = (tried: string, answer: string): Finding => ({ state: 'unknown', tried, answer })

/** The driver of this node, as the source that calls it reports it, else by its file. */
export function gpuDriverStep(pod: PodCase, context: ChainContext): Step {
  return {
    name: 'driver',
    async check() {
      if (isElsewhere(pod)) return unknown(`driver of ${pod.pod?.node}`, 'another node')
      const reader = pod.readers.find(({ name }) => name === BY_DRIVER)
      if (reader?.state === 'reading') return fine(BY_DRIVER, reader.found || 'reading')
      if (hasNumbers(pod)) return fine('GPUs of the pod', 'they report numbers')
      const isFailing = reader !== undefined && !['starting', 'absent'].includes(reader.state)
      if (isFailing) return broken(BY_DRIVER, `${reader.state}: ${reader.reason}`, `${sondeCommand()} explain nvml`)
      const path = `${context.procfs}/driver/nvidia/version`
      const version = await readLine(context, path)
      const said = reader === undefined || reader.reason === '' ? '' : `; ${BY_DRIVER}: ${reader.reason}`
      if (!(version instanceof ReadRefusal)) return fine(path, `${version}${said}`)
      return broken(path, `${version.words}${said}`, 'sudo modprobe nvidia, or install the driver on this node')
    },
  }
}

/** The device plugin: it offers the GPUs of the node to Kubernetes. */
export function pluginStep(pod: PodCase): Step {
  return {
    name: 'device plugin',
    async check() {
      const { attribution, devices } = pod
      const isGiven = attribution?.from.some((via) => via.startsWith('kubelet')) ?? devices.length > 0
      if (isGiven) return fine('kubelet', 'the pod has the GPUs that it was given')
      return inCluster(pod, async (node) => {
        const { finding: state, more } = await componentState(pod, 'device plugin', node)
        if (state.state !== 'ok' || node === undefined) return state
        const offers = `${node.name} offers ${node.allocatable} of ${node.capacity} GPUs`
        if (node.allocatable > 0 && node.allocatable === node.capacity) return fine(state.tried, `${offers}${more}`)
        const what = node.capacity === 0 ? 'the plugin registered none' : 'the plugin reports the others as unhealthy'
        return broken(
          state.tried,
          `${offers}: ${what}${more}`,
          `${logsOf(state.tried)}; dmesg | grep -i xid, on ${node.name}`,
        )
      })
    },
  }
}

/** dcgm-exporter, unless another source reads the GPUs. */
export function exporterStep(pod: PodCase): Step {
  return {
    name: 'exporter',
    async check() {
      const reading = pod.readers.find(({ name, state }) => name !== BY_EXPORTER && state === 'reading')
      if (reading !== undefined) return fine('dcgm-exporter', `not needed: ${reading.name} reads the GPUs`)
      if (hasNumbers(pod)) return fine('dcgm-exporter', 'it reports the GPUs of the pod')
      return inCluster(pod, async (node) => (await componentState(pod, 'exporter', node)).finding)
    },
  }
}

/** A check that needs the node of the pod in the API server. */
async function inCluster(
  { cluster, fault, pod, nodeName }: PodCase,
  check: (node: NodeDetail | undefined) => Promise<Finding>,
): Promise<Finding> {
  if (cluster === undefined) return unknown('API server', fault)
  const name = pod?.node || nodeName
  try {
    // A role without nodes still shows the pods.
    const node = await cluster.node(name).catch(() => undefined)
    return await check(node)
  } catch (error) {
    return unknown(cluster.address, messageOf(error))
  }
}

/** The pod of a component for the node of a pod. `tried` is its name if it runs. */
async function componentState(
  { cluster, pod, nodeName }: PodCase,
  component: Component,
  node: NodeDetail | undefined,
): Promise<{ readonly finding: Finding; readonly more: string }> {
  const name = node?.name ?? (pod?.node || nodeName)
  const { here, elsewhere } = (await cluster?.component(component, name)) ?? { here: [], elsewhere: undefined }
  const [first] = [...here.filter((each) => !isHealthy(each)), ...here]
  const set = await daemonSetFor(cluster, component, first ?? elsewhere)
  const more = set.words === '' ? '' : `; ${set.words}`
  if (first === undefined)
    return { finding: missing({ component, node: name, elsewhere, detail: node, found: set.found, more }), more }
  return { finding: stateFinding(first, name, more), more }
}

function stateFinding(pod: PodDetail, node: string, more: string): Finding {
  const tried = `${pod.namespace}/${pod.name}`
  if (isHealthy(pod)) return fine(tried, `Running on ${node}${more}`)
  const startedMs = (pod.startedS ?? 0) * 1000
  if (pod.waiting === '' && pod.phase === 'Running' && Date.now() - startedMs < STARTING_MS)
    return unknown(tried, `it has just started, and is not ready yet${more}`)
  return broken(tried, `${podStateWords(pod)}${more}`, fixOf(pod))
}

/** The DaemonSet of a component, in words; empty if it has none. */
interface SetOfComponent {
  readonly found: DaemonSetDetail | undefined
  readonly words: string
}

/** The DaemonSet that made a pod, or else any DaemonSet of the component. */
async function daemonSetFor(
  cluster: ClusterView | undefined,
  component: Component,
  pod: PodDetail | undefined,
): Promise<SetOfComponent> {
  try {
    const sets = (await cluster?.daemonSets(component)) ?? []
    const own = sets.find(({ namespace, name }) => namespace === pod?.namespace && name === pod.daemonSet)
    const found = own ?? sets[0]
    return { found, words: found === undefined ? '' : daemonSetWords(found) }
  } catch (error) {
    return { found: undefined, words: `its DaemonSet is not known: ${messageOf(error)}` }
  }
}

function daemonSetWords({ namespace, name, desired, ready }: DaemonSetDetail): string {
  const set = `DaemonSet ${namespace}/${name}`
  if (desired === 0) return `${set} selects no node`
  if (desired === undefined || ready === undefined) return `${set} does not say how many of its pods are ready`
  return `${set}: ${ready} of ${countOf(desired, 'pod')} ready`
}

function isHealthy({ phase, waiting, isReady }: PodDetail): boolean {
  return phase === 'Running' && waiting === '' && isReady
}

/** `Running: CrashLoopBackOff, restarted 12 times, last: OOMKilled, exit code 137`. */
export function podStateWords({ phase, waiting, restarts, ended, message, isReady }: PodDetail): string {
  const state = waiting === '' ? (isReady ? '' : 'not ready') : waiting
  const parts = [
    [phase || 'no phase', state].filter(Boolean).join(': '),
    ...(restarts > 0 ? [`restarted ${restarts} times`] : []),
    ...(ended === '' ? [] : [`last: ${ended}`]),
    ...(message === '' ? [] : [message]),
  ]
  return parts.join(', ')
}

/** A pod that ended has logs; a pod that never ran has events. */
export function fixOf({ namespace, name, restarts, node }: PodDetail): string {
  const of = `-n ${shellWord(namespace)} ${shellWord(name)}`
  if (restarts > 0)
    return `kubectl logs ${of} --previous; often the driver of ${node} does not fit its version, or its memory limit is small`
  return `kubectl describe pod ${of}`
}

function logsOf(pod: string): string {
  const [namespace = '', name = ''] = pod.split('/')
  return `kubectl logs -n ${shellWord(namespace)} ${shellWord(name)}`
}

/** A component without a pod for the node: the node may lack the labels by which its DaemonSet chooses nodes. */
function missing({
  component,
  node,
  elsewhere,
  detail,
  found,
  more,
}: {
  readonly component: Component
  readonly node: string
  readonly elsewhere: PodDetail | undefined
  readonly detail: NodeDetail | undefined
  readonly found: DaemonSetDetail | undefined
  readonly more: string
}): Finding {
  const tried = `pods of the ${component} on ${node}`
  const install =
    component === 'exporter'
      ? 'add "- type: nvml" to data_sources, which needs no exporter; or install dcgm-exporter'
      : 'install the NVIDIA device plugin, or the GPU Operator'
  if (elsewhere === undefined && found === undefined) return broken(tried, `the cluster has none${more}`, install)
  const namespace = found?.namespace ?? elsewhere?.namespace ?? ''
  const other =
    elsewhere === undefined ? '' : `${elsewhere.namespace}/${elsewhere.name} on ${elsewhere.node || 'no node'}`
  const selector = found?.nodeSelector ?? elsewhere?.nodeSelector ?? {}
  const lacking = Object.entries(selector).filter(([label, value]) => detail?.labels[label] !== value)
  if (detail === undefined || lacking.length === 0)
    return broken(
      tried,
      `none${other === '' ? '' : `; there is ${other}`}${more}`,
      `kubectl get daemonsets -n ${shellWord(namespace)}`,
    )
  const labels = lacking.map(([label, value]) => `${label}=${value}`)
  const placed = other === '' ? 'by which its DaemonSet selects nodes' : `by which ${other} was placed`
  return broken(
    tried,
    `none: ${node} has no label ${labels.join(', ')}, ${placed}${more}`,
    `kubectl label node ${shellWord(node)} ${labels.map(shellWord).join(' ')}`,
  )
}
