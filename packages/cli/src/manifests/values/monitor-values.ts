import { choice, flag, integer, list, section, setting } from '@sonde/sdk/config'
import { anyText, interval, objectName, part, parts, texts } from './forms.ts'

const LABELS = 'Labels by which a Prometheus selects the object, such as release: kube-prometheus-stack'
/** Series of one node have the name of the node, as where Prometheus is configured by files. */
const INSTANCE = { sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'instance' }

/** Values of an object by which the Prometheus operator scrapes pods. */
const monitor = (kind: string, relabelings: Record<string, unknown>[]) => ({
  enabled: setting(flag(), false, `Whether there is a ${kind}; needs the Prometheus operator`),
  interval: setting(interval(), '15s', 'Time between two scrapes'),
  scrapeTimeout: setting(interval(), '10s', 'Time for a scrape; not more than interval'),
  scheme: setting(choice(['http', 'https']), 'http', 'How agents are scraped; https where config has a certificate'),
  tlsConfig: setting(
    part('TLS as the Prometheus operator takes it'),
    {},
    'TLS of scrapes by https, such as ca.configMap and serverName; empty: the authorities that Prometheus trusts',
  ),
  honorLabels: setting(flag(), true, 'Keeps the labels pod and namespace of the series, which name the pods of GPUs'),
  additionalLabels: setting(texts(), {}, LABELS),
  relabelings: setting(parts('relabelings'), relabelings, 'Changes of the labels of targets'),
  metricRelabelings: setting(parts('relabelings'), [], 'Changes of the labels of series'),
})

/** Values of the objects for a Prometheus. */
export const monitorValues = {
  serviceMonitor: section(monitor('ServiceMonitor', [INSTANCE])),
  podMonitor: section(monitor('PodMonitor', [INSTANCE])),
  scrapeConfig: section({
    ...monitor('ScrapeConfig for agents outside of the cluster', [
      { sourceLabels: ['__address__'], regex: '(.+):\\d+', targetLabel: 'instance' },
    ]),
    targets: setting(list(anyText(), 4096, 'targets'), [], 'HOST:PORT of these agents'),
  }),
  prometheusRule: section({
    enabled: setting(flag(), false, 'Whether there is a PrometheusRule with the alerts; needs the Prometheus operator'),
    additionalLabels: setting(texts(), {}, LABELS),
    namespace: setting(objectName(), '', 'Namespace of the rules; empty: that of the other objects'),
    exclude: setting(list(anyText(), 64, 'files'), [], 'Files of rules that are left out, such as cluster.yaml'),
    intervalSeconds: setting(integer(0, 3600, 'seconds'), 0, 'Interval of every group; 0: that of its file'),
  }),
  grafanaDashboards: section({
    enabled: setting(
      flag(),
      false,
      'Whether there is a ConfigMap for each dashboard, which the sidecar of Grafana reads',
    ),
    namespace: setting(objectName(), '', 'Namespace of these ConfigMaps; empty: that of the other objects'),
    labels: setting(texts(), { grafana_dashboard: '1' }, 'Labels by which the sidecar finds them'),
    annotations: setting(texts(), {}, 'Their annotations, such as grafana_folder: Sonde'),
    exclude: setting(list(anyText(), 64, 'files'), [], 'Dashboards that are left out, such as doca.json'),
  }),
}
