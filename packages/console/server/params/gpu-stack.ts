import { durationMs } from './forms.ts'

/** The repositories of the charts. */
const EXPORTER_REPOSITORY = 'https://nvidia.github.io/dcgm-exporter/helm-charts'
const PLUGIN_REPOSITORY = 'https://nvidia.github.io/k8s-device-plugin'
const PROMETHEUS_REPOSITORY = 'https://prometheus-community.github.io/helm-charts'
const KEDA_REPOSITORY = 'https://kedacore.github.io/charts'

/** Where everything is installed. */
const NAMESPACE = 'kube-system'

/** Rows of the counters file of dcgm-exporter: fields of its default file that dashboards use, and fields it lacks. */
const COUNTERS = `DCGM_FI_DEV_SM_CLOCK, gauge, SM clock in MHz
DCGM_FI_DEV_MEM_CLOCK, gauge, memory clock in MHz
DCGM_FI_DEV_GPU_TEMP, gauge, temperature in degrees Celsius
DCGM_FI_DEV_MEMORY_TEMP, gauge, temperature of the memory in degrees Celsius
DCGM_FI_DEV_POWER_USAGE, gauge, power in watts
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION, counter, energy in mJ since the driver was loaded
DCGM_FI_DEV_PCIE_REPLAY_COUNTER, counter, PCIe retries
DCGM_FI_DEV_GPU_UTIL, gauge, utilisation in percent
DCGM_FI_DEV_MEM_COPY_UTIL, gauge, utilisation of memory copies in percent
DCGM_FI_DEV_ENC_UTIL, gauge, utilisation of encoders in percent
DCGM_FI_DEV_DEC_UTIL, gauge, utilisation of decoders in percent
DCGM_FI_DEV_XID_ERRORS, gauge, number of the last XID error
DCGM_FI_DEV_CLOCKS_EVENT_REASONS, gauge, bits of the reasons that lower the clocks
DCGM_FI_DEV_FB_FREE, gauge, memory free in MiB
DCGM_FI_DEV_FB_USED, gauge, memory used in MiB
DCGM_FI_DEV_FB_RESERVED, gauge, memory reserved in MiB
DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, counter, corrected memory errors since the driver was loaded
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL, counter, uncorrectable memory errors since the driver was loaded
DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS, counter, rows remapped after uncorrectable errors
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS, counter, rows remapped after corrected errors
DCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, whether a row could not be remapped
DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, counter, NVLink retries
DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL, gauge, NVLink throughput of all links
DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, graphics engine busy
DCGM_FI_PROF_SM_ACTIVE, gauge, SMs with a warp
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, gauge, tensor pipe busy
DCGM_FI_PROF_DRAM_ACTIVE, gauge, GPU memory busy
DCGM_FI_PROF_PIPE_FP64_ACTIVE, gauge, FP64 pipe busy
DCGM_FI_PROF_PIPE_FP32_ACTIVE, gauge, FP32 pipe busy
DCGM_FI_PROF_PIPE_FP16_ACTIVE, gauge, FP16 pipe busy
DCGM_FI_PROF_PCIE_TX_BYTES, gauge, bytes a second sent over PCIe
DCGM_FI_PROF_PCIE_RX_BYTES, gauge, bytes a second received over PCIe
`

/** A file for the installation of the programs beside Sonde. */
export interface StackFile {
  readonly name: string
  readonly text: string
}

/** A chart, its values and how it is installed. */
interface StackChart {
  readonly release: string
  readonly chart: string
  readonly repository: string
  /** Undefined: the newest. */
  readonly version?: string
  readonly values?: StackFile
  /** A file that is applied first. */
  readonly before?: StackFile
}

/**
 * What enabling GPU observability installs: files with values of charts, and the commands in `install.sh`. Empty if no
 * parameter enables anything. Every value was checked when it was set, so that no text can leave its place.
 *
 * @param value The value of a parameter.
 */
export function gpuStack(value: (name: string) => string): readonly StackFile[] {
  const isOn = (name: string) => value(name) === 'true'
  const charts = [
    ...(isOn('nvidia_device_plugin_enable') ? [devicePlugin(value('nvidia_device_time_slicing_replicas'))] : []),
    ...(isOn('gpu_observability_enable') ? [exporter(value), prometheus(value)] : []),
    ...(isOn('keda_enable') ? [{ release: 'keda', chart: 'keda', repository: KEDA_REPOSITORY }] : []),
  ]
  if (charts.length === 0) return []
  const files = charts.flatMap(({ before, values }: StackChart) =>
    [before, values].filter((file) => file !== undefined),
  )
  const commands = charts.map(commandOf).join('')
  return [...files, { name: 'install.sh', text: `#!/bin/sh -e\ncd "$(dirname "$0")"\n${commands}` }]
}

function commandOf({ release, chart, repository, version, values, before }: StackChart): string {
  const apply = before === undefined ? '' : `kubectl apply -n ${NAMESPACE} -f ${before.name}\n`
  const parts = [
    `helm upgrade --install ${release} ${chart} --repo ${repository}`,
    `${version === undefined ? '' : `--version ${version} `}-n ${NAMESPACE}`,
    ...(values === undefined ? [] : [`-f ${values.name}`]),
  ]
  return `${apply}${parts.join(' \\\n  ')}\n`
}

function devicePlugin(replicas: string): StackChart {
  const slicing = `config:
  map:
    default: |
      version: v1
      flags: { migStrategy: none }
      sharing:
        timeSlicing:
          resources:
            - { name: nvidia.com/gpu, replicas: ${replicas} }
`
  return {
    ...{ release: 'nvdp', chart: 'nvidia-device-plugin', repository: PLUGIN_REPOSITORY },
    values: { name: 'device-plugin.yaml', text: replicas === '' ? '{}\n' : slicing },
  }
}

/** The exporter reads as often as it is scraped: its own default of 30 s would repeat values. */
function exporter(value: (name: string) => string): StackChart {
  const counters = `apiVersion: v1
kind: ConfigMap
metadata:
  name: dcgm-counters
data:
  counters.csv: |
${COUNTERS.replace(/^(?=.)/gm, '    ')}`
  const values = `# The job of Prometheus finds the pods by their label.
serviceMonitor: { enabled: false }
# Three of the nine numbers are off in the file that the exporter brings.
arguments:
  - -f
  - /etc/dcgm-counters/counters.csv
  - --collect-interval=${Math.round(durationMs(value('dcgm_scrape_interval')) ?? 15_000)}
extraConfigMapVolumes:
  - name: dcgm-counters
    configMap: { name: dcgm-counters }
extraVolumeMounts:
  - { name: dcgm-counters, mountPath: /etc/dcgm-counters, readOnly: true }
kubernetes: { enablePodLabels: true, enablePodUID: true, rbac: { create: true } }
tolerations:
  - { key: nvidia.com/gpu, operator: Exists, effect: NoSchedule }
resources:
  requests: { cpu: 100m, memory: 128Mi }
  limits: { cpu: 200m, memory: 512Mi }
`
  return {
    ...{ release: 'dcgm-exporter', chart: 'dcgm-exporter', repository: EXPORTER_REPOSITORY },
    version: value('gpu_observability_chart_version'),
    before: { name: 'dcgm-counters.yaml', text: counters },
    values: { name: 'dcgm-exporter.yaml', text: values },
  }
}

function prometheus(value: (name: string) => string): StackChart {
  const interval = value('dcgm_scrape_interval')
  const jobOf = (name: string, port: string, more: string) => `  - job_name: ${name}
    scrape_interval: ${interval}
    # The labels pod and namespace of the series name the pod that uses the GPU.
    honor_labels: true
${more}    kubernetes_sd_configs: [{ role: pod }]
    relabel_configs:
      - { source_labels: [__meta_kubernetes_pod_label_app_kubernetes_io_name], regex: ${name}, action: keep }
      - { source_labels: [__meta_kubernetes_pod_container_port_number], regex: '${port}', action: keep }
      - { source_labels: [__meta_kubernetes_pod_node_name], target_label: node }
      - { source_labels: [__meta_kubernetes_pod_node_name], target_label: instance }
`
  const values = `server:
  retention: ${value('prometheus_gpu_metrics_retention')}
# It scrapes GPUs and agents of Sonde, and nothing else.
alertmanager: { enabled: false }
kube-state-metrics: { enabled: false }
prometheus-node-exporter: { enabled: false }
prometheus-pushgateway: { enabled: false }
serverFiles:
  prometheus.yml:
    scrape_configs: []
extraScrapeConfigs: |
${jobOf('dcgm-exporter', '9400', '')}${jobOf('sonde', '9394', '    params: { set: [core] }\n')}`
  return {
    ...{ release: 'prometheus-gpu-metrics', chart: 'prometheus', repository: PROMETHEUS_REPOSITORY },
    version: value('prometheus_gpu_metrics_chart_version'),
    values: { name: 'prometheus.yaml', text: values },
  }
}
