// Values with which tests render the chart: between them, every part of every template.

/** Values, and whether they need kinds of the Prometheus operator. */
export interface ChartCase {
  readonly values?: Readonly<Record<string, unknown>>
  readonly needsOperator?: boolean
}

const labels = { release: 'kube-prometheus-stack' }

/** All cases by name. */
export const CASES: Readonly<Record<string, ChartCase>> = {
  usual: {},
  operator: {
    needsOperator: true,
    values: {
      config: { access: { tls: { cert_file: '/etc/tls/tls.crt', key_file: '/etc/tls/tls.key' } } },
      extraVolumes: [{ name: 'tls', secret: { secretName: 'sonde-tls' } }],
      extraVolumeMounts: [{ name: 'tls', mountPath: '/etc/tls', readOnly: true }],
      serviceMonitor: {
        enabled: true,
        additionalLabels: labels,
        scheme: 'https',
        tlsConfig: { ca: { configMap: { name: 'ca', key: 'ca.crt' } }, serverName: 'sonde.example.com' },
        metricRelabelings: [{ action: 'drop', regex: 'go_.*', sourceLabels: ['__name__'] }],
      },
      prometheusRule: { enabled: true, additionalLabels: labels, intervalSeconds: 60, exclude: ['cluster.yaml'] },
      scrapeConfig: {
        enabled: true,
        targets: ['slurm-1:9394', 'dpu-1:9394'],
        scrapeTimeout: '',
        scheme: 'https',
        tlsConfig: { insecureSkipVerify: true },
      },
    },
  },
  pod_monitor: {
    needsOperator: true,
    values: {
      podMonitor: { enabled: true, scheme: 'https' },
      prometheusRule: { enabled: true, namespace: 'rules' },
      service: { enabled: false },
    },
  },
  everything: {
    values: {
      global: { imageRegistry: 'registry.example.com:5000', ofParent: 1 },
      image: { digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'registry' }],
      nameOverride: 'watch',
      createNamespace: true,
      namespaceOverride: 'gpu-watch',
      commonLabels: { team: 'gpu', 'cost-centre': '0815' },
      config: {
        data_sources: [
          { type: 'netdev', devices: ['mlx5_*', '!veth*'] },
          { type: 'nvml' },
          { type: 'kubernetes' },
          { type: 'pod_nics' },
        ],
        export: {
          prometheus: { node: 'a<b>&"c"', copy_pod_labels: false },
          remote_write: { url: 'https://metrics.example.com/api/v1/push', queue_limit_bytes: 17_179_869_184 },
        },
        limits: { connections: 64 },
      },
      history: { enabled: true },
      extraArgs: ['--log-level=debug'],
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      extraVolumes: [{ name: 'ca', secret: { secretName: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
      hostIPC: true,
      hostPaths: { sys: false, data: '', logs: '' },
      kubeletPath: '',
      ipc: { enabled: true },
      doca: { enabled: true, devices: ['mlx5_0', '0000:3a:00.1'] },
      nvml: { profiling: true },
      podNics: { enabled: true },
      kubernetes: { enablePodLabels: true },
      kubernetesDRA: { enabled: true },
      serviceAccount: { name: 'watcher', annotations: { note: 'yes' } },
      service: { port: 9500, annotations: { a: 'b' }, labels: { c: 'd' } },
      daemonsetAnnotations: { e: 'f' },
      podAnnotations: { g: 'h' },
      podLabels: { i: 'j' },
      podSecurityContext: { fsGroup: 0 },
      runtimeClassName: 'nvidia',
      priorityClassName: '',
      nodeSelector: { 'nvidia.com/gpu.present': 'true' },
      affinity: null,
      grafanaDashboards: { enabled: true, annotations: { grafana_folder: 'Sonde' }, exclude: ['doca.json'] },
      networkPolicy: { enabled: true, from: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }] },
      console: {
        enabled: true,
        prometheus: { url: 'http://prometheus:9090' },
        config: {
          access: { proxy: { peers: ['10.0.0.5'], viewers: ['*'] } },
          console: { allowed_hosts: ['sonde.example.com'] },
        },
        extraArgs: ['--log-level=warn'],
        extraEnv: [{ name: 'A', value: 'on' }],
        extraVolumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
        extraVolumeMounts: [{ name: 'keys', mountPath: '/keys' }],
        persistence: { storageClass: 'fast', size: '2.5Gi', accessModes: ['ReadWriteOncePod'] },
        service: { type: 'LoadBalancer', annotations: { k: 'l' }, labels: { m: 'n' } },
        podAnnotations: { o: 'p' },
        podLabels: { q: 'r' },
        priorityClassName: 'high',
        tolerations: [{ operator: 'Exists' }],
        affinity: { podAntiAffinity: {} },
      },
      extraObjects: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { key: 'a: b\n' } }],
    },
  },
  console_alone: {
    values: {
      agent: { enabled: false },
      createNamespace: true,
      networkPolicy: { enabled: true },
      image: { registry: 'registry.example.com', tag: 'v9' },
      fullnameOverride: 'gpus',
      console: {
        enabled: true,
        prometheus: { urlSecret: { name: 'prometheus' } },
        persistence: { existingClaim: 'old' },
      },
    },
  },
  plain_privileges: {
    values: {
      hostNetwork: false,
      hostPID: false,
      nvml: { enabled: false, profiling: true },
      kubernetes: { rbac: { create: false } },
      serviceAccount: { create: false },
      console: { enabled: true, prometheus: { url: 'http://prometheus:9090' }, persistence: { enabled: false } },
    },
  },
}
