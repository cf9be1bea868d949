import { GPU_FIELDS, type GpuField } from '@sonde/sdk/api'

/**
 * How one of the nine numbers is stored: `pod_gpu_<base>_<suffix>` for a pod, `app_gpu_<base>_<suffix>` for a service.
 */
interface FieldNames {
  readonly base: string
  /** The unit of the metric. */
  readonly suffix: 'ratio' | 'bytes' | 'watts'
}

/** The nine numbers, by their names in the API. */
const FIELD_NAMES: Readonly<Record<GpuField, FieldNames>> = {
  'gpu-util': { base: 'util', suffix: 'ratio' },
  'gpu-mem-used': { base: 'memory_used', suffix: 'bytes' },
  'gpu-mem-total': { base: 'memory_total', suffix: 'bytes' },
  'gpu-tensor-active': { base: 'tensor_active', suffix: 'ratio' },
  'gpu-sm-active': { base: 'sm_active', suffix: 'ratio' },
  'gpu-dram-active': { base: 'dram_active', suffix: 'ratio' },
  'gpu-fp16-active': { base: 'fp16_active', suffix: 'ratio' },
  'gpu-fp32-active': { base: 'fp32_active', suffix: 'ratio' },
  'gpu-power-w': { base: 'power', suffix: 'watts' },
}

/** Numbers that add up over GPUs; the others are means. */
export const SUMMED_FIELDS: ReadonlySet<GpuField> = new Set(['gpu-mem-used', 'gpu-mem-total', 'gpu-power-w'])
/** Numbers of a whole board, although its MIG instances have their own memory and activity. */
export const BOARD_FIELDS: ReadonlySet<GpuField> = new Set(['gpu-power-w'])

const ROUNDING = 1e12

/**
 * A number as the API shows it: metrics hold ratios, the API percent. Rounded, because 0.57 × 100 is not 57 in binary.
 */
export function shownNumber(field: GpuField, value: number): number {
  if (FIELD_NAMES[field].suffix !== 'ratio') return value
  return Math.round(value * ROUNDING) / (ROUNDING / 100)
}

/** Metric of a pod's number. */
export function podMetric(field: GpuField): string {
  const { base, suffix } = FIELD_NAMES[field]
  return `pod_gpu_${base}_${suffix}`
}

/** Metric of a number of all pods of a service. */
export function appMetric(field: GpuField, statistic: 'avg' | 'min' | 'max' | 'count'): string {
  const { base, suffix } = FIELD_NAMES[field]
  if (statistic === 'count') return `app_gpu_${base}_pods`
  return statistic === 'avg' ? `app_gpu_${base}_${suffix}` : `app_gpu_${base}_${statistic}_${suffix}`
}

/** Metric of a number of a device that a pod does not hold alone. */
export function sharedMetric(field: GpuField): string {
  const { base, suffix } = FIELD_NAMES[field]
  return `shared_gpu_${base}_${suffix}`
}

const SHARED_FIELDS: ReadonlyMap<string, GpuField> = new Map(GPU_FIELDS.map((field) => [sharedMetric(field), field]))

/** The number of a metric that {@link sharedMetric} names; undefined for other metrics. */
export function sharedFieldOf(metric: string): GpuField | undefined {
  return SHARED_FIELDS.get(metric)
}
