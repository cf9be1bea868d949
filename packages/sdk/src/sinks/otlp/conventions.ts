// Names of the semantic conventions of OpenTelemetry 1.37.0.

/** Labels that the conventions of resources name otherwise. */
export const RESOURCE_LABELS: ReadonlyMap<string, string> = new Map([
  ['host', 'host.name'],
  ['Hostname', 'host.name'],
  ['node', 'k8s.node.name'],
  ['namespace', 'k8s.namespace.name'],
  ['pod', 'k8s.pod.name'],
  ['pod_uid', 'k8s.pod.uid'],
  ['container', 'k8s.container.name'],
])

/** Values of `hw.type` by the kind of an entity. A network device and a port of one are both `network`. */
export const HARDWARE: ReadonlyMap<string, string> = new Map([
  ['gpu', 'gpu'],
  ['nic', 'network'],
  ['netdev', 'network'],
])
