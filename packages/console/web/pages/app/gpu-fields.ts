import type { GpuField } from '@sonde/sdk/api'
import { BYTES, type DisplayQuantity, PERCENT, PERCENT_WHOLE, WATTS } from '../../format/quantity.ts'

/** How one of the nine GPU numbers is shown. */
export interface FieldWords {
  readonly field: GpuField
  /** Label in a card. */
  readonly label: string
  /** Label in the head of a column. */
  readonly short: string
  /** Of the number in the API. */
  readonly quantity: DisplayQuantity
  /** Of the metrics, which hold ratios where the API has percent. */
  readonly metricQuantity: DisplayQuantity
  /** Whether the numbers of several GPUs are added up; else their mean counts. */
  readonly isSum: boolean
  /** Metric of a pod. */
  readonly podMetric: string
  /** Metric of a device that pods share. */
  readonly deviceMetric: string
}

/** The nine GPU numbers in display order. */
export const FIELD_WORDS: readonly FieldWords[] = [
  word('gpu-util', 'Utilisation', 'Util', PERCENT_WHOLE, 'util_ratio'),
  word('gpu-mem-used', 'Memory used', 'Memory used', BYTES, 'memory_used_bytes'),
  word('gpu-mem-total', 'Memory in all', 'Memory in all', BYTES, 'memory_total_bytes'),
  word('gpu-tensor-active', 'Tensor active', 'Tensor', PERCENT_WHOLE, 'tensor_active_ratio'),
  word('gpu-sm-active', 'SM active', 'SM', PERCENT_WHOLE, 'sm_active_ratio'),
  word('gpu-dram-active', 'DRAM active', 'DRAM', PERCENT_WHOLE, 'dram_active_ratio'),
  word('gpu-fp16-active', 'FP16 active', 'FP16', PERCENT_WHOLE, 'fp16_active_ratio'),
  word('gpu-fp32-active', 'FP32 active', 'FP32', PERCENT_WHOLE, 'fp32_active_ratio'),
  word('gpu-power-w', 'Power', 'Power', WATTS, 'power_watts'),
]

/** The numbers that have a chart. */
export const CHART_FIELDS: readonly FieldWords[] = FIELD_WORDS.filter(({ field }) =>
  ['gpu-util', 'gpu-mem-used', 'gpu-tensor-active', 'gpu-power-w'].includes(field),
)

function word(field: GpuField, label: string, short: string, quantity: DisplayQuantity, name: string): FieldWords {
  const metricQuantity = quantity === PERCENT_WHOLE ? PERCENT : quantity
  return {
    field,
    label,
    short,
    quantity,
    metricQuantity,
    isSum: quantity !== PERCENT_WHOLE,
    podMetric: `pod_gpu_${name}`,
    deviceMetric: `shared_gpu_${name}`,
  }
}
