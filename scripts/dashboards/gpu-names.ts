// GPU metrics and labels in each spelling of dcgm-exporter. Sonde writes the usual one.

/** Other names of metrics: those of DCGM 4.6, and of exporters before 4.0. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  DCGM_FI_DEV_GPU_UTIL: 'DCGM_FI_DEV_GPU_UTIL_RATIO',
  DCGM_FI_DEV_POWER_USAGE: 'DCGM_FI_DEV_BOARD_POWER_WATTS',
  DCGM_FI_DEV_GPU_TEMP: 'DCGM_FI_DEV_GPU_TEMP_CELSIUS',
  DCGM_FI_DEV_MEMORY_TEMP: 'DCGM_FI_DEV_MEMORY_TEMP_CELSIUS',
  DCGM_FI_DEV_PCIE_REPLAY_COUNTER: 'DCGM_FI_DEV_PCIE_REPLAY_TOTAL',
  DCGM_FI_DEV_XID_ERRORS: 'DCGM_FI_DEV_XID_ERROR',
  DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS: 'DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL',
  DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL: 'DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL',
  DCGM_FI_DEV_CLOCKS_EVENT_REASONS: 'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS',
  DCGM_FI_PROF_SM_ACTIVE: 'DCGM_FI_PROF_SM_UTIL_RATIO',
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: 'DCGM_FI_PROF_TENSOR_UTIL_RATIO',
  DCGM_FI_PROF_DRAM_ACTIVE: 'DCGM_FI_PROF_DRAM_UTIL_RATIO',
  DCGM_FI_PROF_PIPE_FP16_ACTIVE: 'DCGM_FI_PROF_FP16_UTIL_RATIO',
  DCGM_FI_PROF_PIPE_FP32_ACTIVE: 'DCGM_FI_PROF_FP32_UTIL_RATIO',
}

/** Which series of a GPU metric a dashboard asks for. */
export interface GpuChoice {
  /** A selector, or several that are joined; `fn` wraps each, such as `rate(…[5m])`. */
  (metric: string, fn?: (selector: string) => string): string
  /** Labels that tell the series of a chart apart. */
  readonly by: string
  readonly legend: string
}

/** The names of all metrics of GPUs in a query, with the usual name for each other one. */
export const USUAL_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_NAMES).map(([usual, other]) => [`__name__=~"${usual}|${other}"`, usual]),
)

/** A selector of a metric under all of its names. */
export function gpuSelector(metric: string, matchers: string): string {
  const other = OTHER_NAMES[metric]
  return other === undefined ? `${metric}{${matchers}}` : `{__name__=~"${metric}|${other}",${matchers}}`
}

/** GPUs by the matchers of a dashboard, such as `instance=~"$node"`. */
export function gpusBy(matchers: string): GpuChoice {
  const choose = (metric: string, fn: (selector: string) => string = (text) => text) =>
    fn(gpuSelector(metric, matchers))
  // `hostname` is the newer spelling, and `uuid` that of --use-old-namespace.
  const by = 'instance, gpu, UUID, uuid, GPU_I_ID'
  return Object.assign(choose, { by, legend: '{{instance}} GPU {{gpu}} {{GPU_I_ID}}' })
}

const WORKLOAD = 'app=~"$app",service=~"$service"'

/**
 * GPUs of the pods of the variables app, service and namespace. Exporters name pods in three ways: `pod`,
 * `exported_pod` where Prometheus renamed it, and `pod_name` with --use-old-namespace. Sonde has the pods of a GPU in
 * series of their own.
 */
export const GPUS_OF_PODS: GpuChoice = Object.assign(
  (metric: string, fn: (selector: string) => string = (text) => text) => {
    const renamed = (pod: string, namespace: string) => {
      const series = fn(gpuSelector(metric, `${pod}!="",${namespace}=~"$namespace",${WORKLOAD}`))
      const named = `label_replace(${series}, "pod", "$1", "${pod}", "(.+)")`
      return `label_replace(${named}, "namespace", "$1", "${namespace}", "(.+)")`
    }
    const named = fn(gpuSelector(metric, `exported_pod="",pod!="",namespace=~"$namespace",${WORKLOAD}`))
    // An idle GPU has no pod: without honor_labels its `pod` is that of the exporter, as in `up`.
    const usual = `(${named} unless on (job, instance, namespace, pod) up)`
    const parts = [usual, renamed('exported_pod', 'exported_namespace'), renamed('pod_name', 'pod_namespace')]
    return `(${parts.join(' or ')} or ${joined(fn(gpuSelector(metric, 'pod="",pod_name=""')))})`
  },
  { by: 'namespace, pod', legend: '{{namespace}}/{{pod}}' },
)

/** Series without a pod, with the pods that hold their GPU. */
function joined(series: string): string {
  const held = 'max by (UUID, GPU_I_ID, namespace, pod) (pod_device_present{namespace=~"$namespace"} == 1)'
  const named = `max by (namespace, pod) (pod_info{namespace=~"$namespace",${WORKLOAD}})`
  return `max by (UUID, GPU_I_ID) (${series}) * on (UUID, GPU_I_ID) group_right () (${held} and on (namespace, pod) ${named})`
}

/** Reasons of lower clocks: the bit in the mask, and the reason. */
export const CLOCK_REASONS: readonly (readonly [bit: number, reason: string])[] = [
  [1, 'idle'],
  [4, 'power cap'],
  [8, 'hardware slowdown'],
  [32, 'heat, by the driver'],
  [64, 'heat, by the hardware'],
  [128, 'power brake'],
]
