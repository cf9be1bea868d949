import type { AutoscaleEntry } from './config.ts'

/** Names of the utilisation of a GPU, in percent: that of DCGM, and that of DCGM 4.6. */
const UTILISATION = 'DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_GPU_UTIL_RATIO'
/** Requests that wait in vLLM. */
const WAITING = 'vllm:num_requests_waiting'
/** How long a pod counts after its last sample. */
const SILENT_FOR = '10m'

/**
 * What KEDA asks Prometheus for an entry: one element, or none, which is an error for KEDA.
 *
 * A pod that was there and has no sample now counts as if it were at the threshold: half of the exporters cannot scale
 * a service down. If no pod has a sample, there is no element, and the fallback of the ScaledObject holds.
 */
export function scaleQuery(entry: AutoscaleEntry): string {
  const { trigger, threshold, metric } = entry
  const names = metric ?? (trigger === 'gpu_utilization' ? UTILISATION : WAITING)
  const selectors = podSelectors(names, entry)
  const each = (of: (selector: string) => string) => selectors.map(of).join(' or ')
  // Two jobs can scrape one GPU, or one pod: it counts once.
  const [by, whole] =
    trigger === 'gpu_utilization'
      ? ['namespace, exported_namespace, pod, exported_pod, UUID, GPU_I_ID', 'avg']
      : ['namespace, exported_namespace, pod, exported_pod', 'sum']
  const now = `max by (${by}) (${each((selector) => selector)})`
  const seen = `max by (${by}) (${each((selector) => `last_over_time(${selector}[${SILENT_FOR}])`)})`
  return `${whole}(${now} or ${seen} * 0 + ${threshold}) and group(${now})`
}

/**
 * Series of the pods of a Deployment, by the label `pod`. Without `honor_labels`, Prometheus renames the labels of the
 * pod on a GPU, because the target has labels of these names.
 */
function podSelectors(metrics: string, { namespace, deployment }: AutoscaleEntry): string[] {
  // The hash of the ReplicaSet, and five characters of the pod.
  const pods = `${deployment}-[a-z0-9]{1,10}-[a-z0-9]{5}`
  const name = metrics.includes('|') ? `__name__=~"${metrics}"` : `__name__="${metrics}"`
  return ['exported_', ''].map((renamed) => {
    return `{${name},${renamed}namespace="${namespace}",${renamed}pod=~"${pods}"}`
  })
}
