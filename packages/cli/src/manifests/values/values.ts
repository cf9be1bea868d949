import { block, choice, flag, list, section, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { agentValues } from './agent-values.ts'
import { consoleValues } from './console-values.ts'
import { anyText, objectName, part, parts, texts } from './forms.ts'
import { monitorValues } from './monitor-values.ts'

/**
 * The values of the chart. `npm run docs` writes `values.yaml`, `values.schema.json` and the table of the chart's page
 * from them, and `sonde manifests` checks with them. Names are those of the charts of dcgm-exporter and node_exporter.
 */
export const valuesSchema = block({
  // A parent chart may have further keys here.
  global: v.nullish(v.looseObject({ imageRegistry: setting(anyText(), '', 'Registry of all images; it wins') }), {}),
  image: section({
    registry: setting(anyText(), '', 'Registry of the image, such as registry.example.com'),
    repository: setting(anyText(), 'sonde', 'Name of the image in its registry; npm run image builds it'),
    tag: setting(anyText(), '', 'Tag of the image; empty: the version of the chart'),
    digest: setting(anyText(), '', 'Digest of the image, sha256:…; it wins over the tag'),
    pullPolicy: setting(choice(['Always', 'IfNotPresent', 'Never']), 'IfNotPresent', 'When a node pulls the image'),
  }),
  imagePullSecrets: setting(parts('secrets, such as {name: registry}'), [], 'Secrets for the registry'),
  nameOverride: setting(objectName(), '', 'Name of the chart in labels and names'),
  fullnameOverride: setting(objectName(), '', 'Name of all objects'),
  namespaceOverride: setting(objectName(), '', 'Namespace of all objects; empty: that of the release'),
  createNamespace: setting(
    flag(),
    false,
    'Whether the namespace is an object too, with the Pod Security level that the pods need',
  ),
  commonLabels: setting(texts(), {}, 'Labels of every object'),
  metricsSet: setting(
    choice(['core', 'full']),
    'core',
    'Which metrics Prometheus reads: core is what alerts, dashboards and the console need',
  ),
  ...agentValues,
  ...monitorValues,
  networkPolicy: section({
    enabled: setting(
      flag(),
      false,
      'Whether only from may reach the pods. Pods with hostNetwork are outside of every policy',
    ),
    from: setting(parts('peers of a NetworkPolicy'), [], 'Who may reach the pods; empty: every pod of the cluster'),
  }),
  console: section(consoleValues),
  extraObjects: setting(list(part(), 64, 'objects'), [], 'Further objects, which are printed as they are'),
})
