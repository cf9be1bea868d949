import type { ExplainWalk } from '@sonde/sdk/api'
import { labelOf } from '@sonde/sdk/internal'
import { walk } from '../sources/chains/chain.ts'
import type { DeviceFacts } from './agent-facts.ts'
import { exporterStep, gpuDriverStep, pluginStep } from './component-steps.ts'
import type { ExplainOptions } from './explanation.ts'
import { type AskedPod, clusterOf, type PodCase, podCase } from './pod-case.ts'
import { devicesStep, labelsStep, podStep, readersStep, scrapeStep } from './pod-steps.ts'
import type { SourceSubject } from './subject.ts'

/** A namespace and a pod as Kubernetes allows their names. */
const NAMED = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\/([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)$/

/**
 * Chains of a pod, by `NAMESPACE/POD`, by its name alone, or by its id in the agent: from the driver over device
 * plugin, exporter, PodResources and labels to its numbers. None if neither agent nor API server knows such a pod.
 */
export async function podChains(
  of: string,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<ExplainWalk[]> {
  const known = (await options.facts?.devices()) ?? []
  const pods = known.filter((device) => isPodCalled(of, device)).map(podNameOf)
  if (pods.length > 0)
    return Promise.all(pods.map(async (pod) => podChain(of, await podCase(pod, subjects, options), options)))
  const [, namespace, name] = NAMED.exec(of) ?? []
  if (namespace === undefined || name === undefined) return []
  const found = await podCase({ namespace, name }, subjects, options)
  const isKnown = found.pod !== undefined || found.devices.length + found.numbers.length > 0
  return isKnown ? [await podChain(of, found, options)] : []
}

/** Names of pods that an unknown name may have meant: pods of the agent, and those of its namespace. */
export async function podNames(of: string, subjects: readonly SourceSubject[]): Promise<readonly string[]> {
  const [, namespace] = NAMED.exec(of) ?? []
  if (namespace === undefined) return []
  try {
    const names = (await clusterOf(subjects).view?.podNames(namespace)) ?? []
    return names.map((name) => `${namespace}/${name}`)
  } catch {
    // Suggestions are not worth an error; the chain of a pod reports why the API server does not answer.
    return []
  }
}

function isPodCalled(of: string, { id, kind, name, labels, simulated }: DeviceFacts): boolean {
  // Jobs and containers are entities of this kind too, in namespaces with `@`.
  const isPod = kind === 'pod' && !simulated && !labelOf(labels, 'namespace').startsWith('@')
  return isPod && [id, name, labelOf(labels, 'pod')].includes(of)
}

function podNameOf({ labels }: DeviceFacts): AskedPod {
  return { namespace: labelOf(labels, 'namespace'), name: labelOf(labels, 'pod') }
}

async function podChain(of: string, pod: PodCase, { context }: ExplainOptions): Promise<ExplainWalk> {
  const links = await walk([
    ...[readersStep(pod), podStep(pod), gpuDriverStep(pod, context), pluginStep(pod), exporterStep(pod)],
    ...[devicesStep(pod), labelsStep(pod), scrapeStep(pod)],
  ])
  return { of, source: 'kubernetes', device: `${pod.namespace}/${pod.name}`, links }
}
