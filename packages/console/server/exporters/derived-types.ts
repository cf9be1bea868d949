import { GPU_FIELDS } from '@sonde/sdk/api'
import type { ListedType } from '@sonde/sdk/internal'
import { appMetric, podMetric, sharedMetric } from '../apps/fields.ts'
import { RAWS } from './expressions.ts'

/** Series of exporters. At least one of them exists wherever pods hold GPUs. */
const SIGNS: ReadonlySet<string> = new Set([...RAWS.util.metrics, ...RAWS.used.metrics])
/** A metric that rows of agents have. */
const ROWS_SIGN = 'pod_gpus'

/** The unit at the end of a metric name; empty if there is none. */
function unitOf(metric: string): string {
  return /_(ratio|bytes|watts|seconds)$/.exec(metric)?.[1] ?? ''
}

function typeOf(name: string, description: string, labels: readonly string[], metrics: readonly string[]): ListedType {
  const fields = metrics.map((metric) => {
    const help = 'Made of the series of exporters, as there is no agent'
    return {
      name: metric.startsWith(`${name}_`) ? metric.slice(name.length + 1) : metric.slice(metric.indexOf('_') + 1),
      metric,
      kind: 'f64' as const,
      role: 'gauge' as const,
      unit: unitOf(metric),
      help,
    }
  })
  return { name, description, labels, fields, records: [], live: true, read: '' }
}

/** The types of rows for pods and services that are derived from the series of exporters. */
export const DERIVED_TYPES: readonly ListedType[] = [
  typeOf(
    'pod_gpu',
    'The GPUs of one pod',
    ['app', 'service', 'namespace', 'pod'],
    [
      ...GPU_FIELDS.map(podMetric),
      ...[
        'pod_gpus',
        'pod_gpu_instances',
        'pod_gpu_shared_with',
        'pod_gpu_scheduled',
        'pod_gpu_requested_gpus',
        'pod_gpu_start_time_seconds',
        'pod_gpu_sample_age_seconds',
      ],
    ],
  ),
  typeOf(
    'shared_gpu',
    'A GPU of a pod that shares one, as a whole',
    ['app', 'service', 'namespace', 'pod', 'Hostname', 'UUID', 'GPU_I_ID'],
    [...GPU_FIELDS.map(sharedMetric), 'shared_gpu_pods'],
  ),
  typeOf(
    'app_gpu',
    'The GPU pods of one service of an app',
    ['app', 'service'],
    [
      ...GPU_FIELDS.flatMap((field) => (['avg', 'min', 'max', 'count'] as const).map((one) => appMetric(field, one))),
      ...['app_gpu_pods', 'app_gpus'],
    ],
  ),
]

/** Whether rows can be derived: exporters are scraped, and no agent is. */
export function canDerive(types: readonly ListedType[]): boolean {
  const metrics = types.flatMap(({ fields }) => fields.map(({ metric }) => metric))
  return metrics.some((metric) => SIGNS.has(metric)) && !metrics.includes(ROWS_SIGN)
}
