// The nine numbers of a pod's GPUs, and of a service's: their names, where each comes from, and how those of several
// GPUs become one.

/** The aggregation over the GPUs of a pod: ratios are averaged, amounts are summed. */
export type PodAggregation = 'mean' | 'sum'

/** One of the nine. */
export interface PodField {
  /** Its name without the unit; `<base>_<suffix>` is the field. */
  readonly base: string
  readonly suffix: string
  readonly unit: string
  readonly help: string
  readonly within: PodAggregation
}

/** The nine, in the order in which they are shown. */
export const POD_FIELDS = [
  { base: 'util', suffix: 'ratio', unit: 'ratio', within: 'mean', help: 'Share of time in which any kernel ran' },
  { base: 'memory_used', suffix: 'bytes', unit: 'bytes', within: 'sum', help: 'GPU memory that processes use' },
  {
    base: 'memory_total',
    suffix: 'bytes',
    unit: 'bytes',
    within: 'sum',
    help: 'GPU memory, the reserved part included',
  },
  {
    base: 'tensor_active',
    suffix: 'ratio',
    unit: 'ratio',
    within: 'mean',
    help: 'Share of cycles with a busy tensor pipe',
  },
  {
    base: 'sm_active',
    suffix: 'ratio',
    unit: 'ratio',
    within: 'mean',
    help: 'Share of cycles in which SMs had a warp',
  },
  {
    base: 'dram_active',
    suffix: 'ratio',
    unit: 'ratio',
    within: 'mean',
    help: 'Share of cycles with busy GPU memory',
  },
  {
    base: 'fp16_active',
    suffix: 'ratio',
    unit: 'ratio',
    within: 'mean',
    help: 'Share of cycles with a busy FP16 pipe',
  },
  {
    base: 'fp32_active',
    suffix: 'ratio',
    unit: 'ratio',
    within: 'mean',
    help: 'Share of cycles with a busy FP32 pipe',
  },
  { base: 'power', suffix: 'watts', unit: 'watts', within: 'sum', help: 'Power drawn by the GPUs' },
] as const satisfies readonly PodField[]

type Nine = (typeof POD_FIELDS)[number]

/** Name of one of the nine, without its unit. */
export type PodBase = Nine['base']

/** A number a field; a field that is not there has none. */
export type PodValues = { readonly [Base in PodBase]?: number }

/** Name of a field of a record: that of a statistic bears it before the unit. */
export function fieldName({ base, suffix }: PodField, statistic: '' | 'min' | 'max' = ''): string {
  return statistic === '' ? `${base}_${suffix}` : `${base}_${statistic}_${suffix}`
}

const fromMebibytes = (sum: number) => sum * 2 ** 20
const fromPercent = (sum: number) => sum / 100
const unchanged = (sum: number) => sum

/** Where a field of the nine comes from: fields of a GPU's record, added up, in another unit. */
export interface PodFieldOrigin {
  readonly base: PodBase
  readonly from: readonly string[]
  /** Turns the sum into the unit of the field. */
  readonly convert: (sum: number) => number
}

/**
 * Fields of the nine by the record type that has them. Memory in all is the sum of its parts: with a part missing, it
 * would be too small.
 */
export const POD_FIELD_ORIGINS: Readonly<Record<string, readonly PodFieldOrigin[]>> = {
  nvml_gpu: [
    { base: 'util', from: ['gpu_util'], convert: fromPercent },
    { base: 'memory_used', from: ['fb_used'], convert: fromMebibytes },
    { base: 'memory_total', from: ['fb_used', 'fb_free', 'fb_reserved'], convert: fromMebibytes },
    { base: 'power', from: ['power_usage'], convert: unchanged },
  ],
  nvml_profile: [
    { base: 'tensor_active', from: ['pipe_tensor_active'], convert: unchanged },
    { base: 'sm_active', from: ['sm_active'], convert: unchanged },
    { base: 'dram_active', from: ['dram_active'], convert: unchanged },
    { base: 'fp16_active', from: ['pipe_fp16_active'], convert: unchanged },
    { base: 'fp32_active', from: ['pipe_fp32_active'], convert: unchanged },
  ],
  // An instance has no utilisation and no power; its reserved memory is reported for the GPU.
  nvml_mig: [
    { base: 'memory_used', from: ['fb_used'], convert: fromMebibytes },
    { base: 'memory_total', from: ['fb_used', 'fb_free'], convert: fromMebibytes },
    { base: 'tensor_active', from: ['pipe_tensor_active'], convert: unchanged },
    { base: 'sm_active', from: ['sm_active'], convert: unchanged },
    { base: 'dram_active', from: ['dram_active'], convert: unchanged },
  ],
}
