import { durationMs } from './forms.ts'

/** The repositories of the charts. */
const EXPORTER_REPOSITORY = 'https://nvidia.github.io/dcgm-exporter/helm-charts'
const PLUGIN_REPOSITORY = 'https://nvidia.github.io/k8s-device-plugin'
const PROMETHEUS_REPOSITORY = 'https://prometheus-community.github.io/helm-charts'
const KEDA_REPOSITORY = 'https://kedacore.github.io/charts'

/**
 * Values of charts by the parameters, as YAML with the commands that use them in comments. Every value was checked when
 * it was set, so that no text can leave its place.
 *
 * @param value The value of a parameter.
 */
export function renderHelm(value: (name: string) => string): string {
  const isOn = (name: string) => value(name) === 'true'
  const parts = [
    isOn('nvidia_device_plugin_enable') ? devicePlugin(value('nvidia_device_time_slicing_replicas')) : '',
    isOn('gpu_observability_enable') ? exporter(value) : '',
    isOn('gpu_observability_enable') ? prometheus(value) : '',
    isOn('keda_enable')
      ? `# keda\n# helm upgrade --install keda keda --repo ${KEDA_REPOSITORY} -n keda --create-namespace\n`
      : '',
  ].filter((part) => part !== '')
  if (parts.length > 0) return parts.join('---\n')
  return '# GPU observability is not enabled, so there is nothing to install. To enable it:\n# sonde params set gpu_observability_enable=true nvidia_device_plugin_enable=true\n'
}

function devicePlugin(replicas: string): string {
  const command = `# helm upgrade --install nvdp nvidia-device-plugin --repo ${PLUGIN_REPOSITORY} -n kube-system -f device-plugin.yaml\n`
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
  return `# device-plugin.yaml\n${command}${replicas === '' ? '{}\n' : slicing}`
}

/** The exporter reads as often as it is scraped: its own default of 30 s would repeat values. */
function exporter(value: (name: string) => string): string {
  const interval = value('dcgm_scrape_interval')
  return `# dcgm-exporter.yaml
# helm upgrade --install dcgm-exporter dcgm-exporter --repo ${EXPORTER_REPOSITORY} \\
#   --version ${value('gpu_observability_chart_version')} -n kube-system -f dcgm-exporter.yaml
serviceMonitor: { enabled: false }
arguments: ['--collect-interval=${Math.round(durationMs(interval) ?? 15_000)}']
kubernetes: { enablePodLabels: true, enablePodUID: true, rbac: { create: true } }
podAnnotations:
  prometheus.io/scrape: 'true'
  prometheus.io/port: '9400'
  prometheus.io/path: /metrics
  prometheus.io/scrape-interval: ${interval}
tolerations:
  - { key: nvidia.com/gpu, operator: Exists, effect: NoSchedule }
resources:
  requests: { cpu: 100m, memory: 128Mi }
  limits: { cpu: 200m, memory: 512Mi }
`
}

function prometheus(value: (name: string) => string): string {
  const interval = value('dcgm_scrape_interval')
  return `# prometheus.yaml
# helm upgrade --install prometheus-gpu-metrics prometheus --repo ${PROMETHEUS_REPOSITORY} \\
#   --version ${value('prometheus_gpu_metrics_chart_version')} -n kube-system -f prometheus.yaml
server:
  retention: ${value('prometheus_gpu_metrics_retention')}
extraScrapeConfigs: |
  - job_name: dcgm-exporter
    scrape_interval: ${interval}
    honor_labels: true
    kubernetes_sd_configs: [{ role: pod, namespaces: { names: [kube-system] } }]
    relabel_configs:
      - { source_labels: [__meta_kubernetes_pod_label_app_kubernetes_io_name], regex: dcgm-exporter, action: keep }
      - { source_labels: [__meta_kubernetes_pod_container_port_number], regex: '9400', action: keep }
      - { source_labels: [__meta_kubernetes_pod_node_name], target_label: node }
`
}
