import { choice, flag, integer, list, section, setting, urlPattern } from '@sonde/sdk/config'
import { extras, probes, resources } from './agent-values.ts'
import { anyText, objectName, part, parts, quantity, texts } from './forms.ts'

/** Values of the console: one pod that serves the page over a Prometheus. */
export const consoleValues = {
  enabled: setting(flag(), false, 'Whether the console runs, as a Deployment; needs console.prometheus'),
  prometheus: section({
    url: setting(
      urlPattern(/^(https?:\/\/[^\s@]+)?$/, 'an address of http or https without name and password, or empty', ['']),
      '',
      'Server with the HTTP API of Prometheus, such as http://prometheus-operated.monitoring.svc:9090',
    ),
    urlSecret: section({
      name: setting(objectName(), '', 'Secret with the address, if the address has a password'),
      key: setting(anyText(), 'url', 'Key of the address in the Secret'),
    }),
  }),
  config: setting(
    part('the configuration of Sonde: console, access, limits, log'),
    {},
    'Configuration of the console, as in docs/configuration.md: access.proxy for the login of a proxy, webhooks',
  ),
  ...extras,
  persistence: section({
    enabled: setting(flag(), true, 'Whether tokens, parameters and the log of changes survive the pod'),
    existingClaim: setting(objectName(), '', 'A claim that exists; empty: a new claim'),
    size: setting(quantity(), '1Gi', 'Size of the new claim'),
    storageClass: setting(anyText(), '', 'Class of the new claim; empty: that of the cluster'),
    accessModes: setting(
      list(choice(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany']), 4, 'access modes'),
      ['ReadWriteOnce'],
      'Access modes of the new claim',
    ),
  }),
  service: section({
    type: setting(choice(['ClusterIP', 'NodePort', 'LoadBalancer']), 'ClusterIP', 'Type of the Service'),
    port: setting(integer(1, 65_535, ''), 9395, 'Port of the page and the API'),
    annotations: setting(texts(), {}, 'Annotations of the Service'),
    labels: setting(texts(), {}, 'Labels of the Service'),
  }),
  podAnnotations: setting(texts(), {}, 'Annotations of the pod'),
  podLabels: setting(texts(), {}, 'Labels of the pod'),
  podSecurityContext: setting(
    part(),
    {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    'Security of the pod: the Pod Security level restricted',
  ),
  securityContext: setting(
    part(),
    { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    'Security of the container',
  ),
  priorityClassName: setting(anyText(), '', 'Priority'),
  nodeSelector: setting(texts(), { 'kubernetes.io/os': 'linux' }, 'Labels of the nodes'),
  tolerations: setting(parts('tolerations'), [], 'Taints that do not keep the console away'),
  affinity: setting(part(), {}, 'Affinity'),
  resources: resources('50m', '128Mi', '500m', '512Mi'),
  ...probes,
}
