import { flag, integer, list, pattern, section, setting } from '@sonde/sdk/config'
import { anyText, hostPath, objectName, part, parts, portName, quantity, texts } from './forms.ts'

const path = () => pattern(/^\/[\w./-]*$/, 'a path such as /healthz')

const probe = (route: string, about: string, fallback: { initialDelaySeconds: number; periodSeconds: number }) => ({
  path: setting(path(), route, about),
  initialDelaySeconds: setting(
    integer(0, 3600, 'seconds'),
    fallback.initialDelaySeconds,
    'Wait before the first probe',
  ),
  periodSeconds: setting(integer(1, 3600, 'seconds'), fallback.periodSeconds, 'Time between two probes'),
  timeoutSeconds: setting(integer(1, 600, 'seconds'), 5, 'Time for an answer'),
  failureThreshold: setting(integer(1, 1000, 'probes'), 3, 'Failed probes in a row that count'),
})

/** Probes of the agent and of the console. */
export const probes = {
  livenessProbe: section(
    probe('/healthz', 'Route of the liveness probe', { initialDelaySeconds: 10, periodSeconds: 30 }),
  ),
  readinessProbe: section(
    probe('/readyz', 'Route of the readiness probe', { initialDelaySeconds: 2, periodSeconds: 10 }),
  ),
}

/** Resources of a container: requests and limits. */
export const resources = (cpu: string, memory: string, cpuMax: string, memoryMax: string) =>
  section({
    requests: section({
      cpu: setting(quantity(), cpu, 'Processor that is reserved'),
      memory: setting(quantity(), memory, 'Memory that is reserved'),
    }),
    limits: section({
      cpu: setting(quantity(), cpuMax, 'Processor at most'),
      memory: setting(quantity(), memoryMax, 'Memory at most; beyond it the kernel ends the container'),
    }),
  })

/** What every container can have in addition. */
export const extras = {
  extraArgs: setting(list(anyText(), 64, 'arguments'), [], 'Further arguments of the command'),
  extraEnv: setting(parts('variables, each with name and value or valueFrom'), [], 'Further variables'),
  extraVolumes: setting(parts('volumes'), [], 'Further volumes of the pod'),
  extraVolumeMounts: setting(parts('mounts'), [], 'Further mounts of the container'),
}

/** Values of the agent: a pod on each node. */
export const agentValues = {
  agent: section({ enabled: setting(flag(), true, 'Whether the agent runs, as a DaemonSet') }),
  config: setting(
    part('the configuration of Sonde: data_sources, export, service, traceback, store, limits, log and others'),
    {},
    'Configuration of the agent, as in docs/configuration.md; sonde check reads the file of the ConfigMap',
  ),
  history: section({
    enabled: setting(
      flag(),
      false,
      'Whether the agent keeps history and has the page: sonde up in place of sonde agent',
    ),
  }),
  ...extras,
  hostNetwork: setting(flag(), true, 'Network of the node: without it the NICs of the node are not visible'),
  hostPID: setting(flag(), true, 'Processes of the node: without them no GPU has the shares of its pods'),
  hostIPC: setting(
    flag(),
    false,
    'Shared memory of the node: with it pages of applications do not go through the socket',
  ),
  hostPaths: section({
    sys: setting(flag(), true, 'Mounts /sys of the node: NICs, PCIe, sensors, RDMA'),
    data: setting(
      hostPath(),
      '/var/lib/sonde',
      'Folder of the node for keys, queues, events and history; empty: they end with the pod',
    ),
    logs: setting(
      hostPath(),
      '/var/log',
      'Folder of the node with the names of pods, for processes on GPUs; empty: none',
    ),
  }),
  kubeletPath: setting(
    hostPath(),
    '/var/lib/kubelet/pod-resources',
    'Folder of the socket by which the kubelet reports the devices of pods; empty: not mounted',
  ),
  ipc: section({
    enabled: setting(flag(), false, 'Whether applications of other pods and of the node can report to the agent'),
    socketsDir: setting(
      hostPath(),
      '/opt/mellanox/doca/services/telemetry/ipc_sockets',
      'Folder of the node with the socket; applications mount it at the same path',
    ),
  }),
  doca: section({
    enabled: setting(
      flag(),
      false,
      'Whether the agent reads DOCA devices: privileged, with /dev of the node. The image needs the DOCA packages',
    ),
    devices: setting(list(anyText(), 64, 'devices'), [], 'RDMA names, interfaces or PCI addresses; empty: all'),
  }),
  nvml: section({
    enabled: setting(flag(), true, "Whether NVIDIA's runtime gives the pod all GPUs and the library of the driver"),
    profiling: setting(
      flag(),
      false,
      'Adds SYS_ADMIN, which the driver asks for before it reports activity of tensor cores, SMs and memory',
    ),
  }),
  podNics: section({
    enabled: setting(
      flag(),
      false,
      'Adds SYS_ADMIN and SYS_PTRACE, with which the source pod_nics enters the network namespaces of pods',
    ),
  }),
  kubernetes: section({
    enablePodLabels: setting(flag(), false, 'Whether series of GPUs in /metrics have the labels of their pod'),
    rbac: section({
      create: setting(flag(), true, 'Whether the agent may get, list and watch pods, and get nodes'),
    }),
  }),
  kubernetesDRA: section({
    enabled: setting(flag(), false, 'Whether the agent may also get and list ResourceSlices, for devices of claims'),
  }),
  serviceAccount: section({
    create: setting(flag(), true, 'Whether the agent has a service account of its own'),
    name: setting(objectName(), '', 'Name of the service account'),
    annotations: setting(texts(), {}, 'Annotations of the service account'),
  }),
  service: section({
    enabled: setting(
      flag(),
      true,
      'Whether the agents have a Service: without an address of its own, one target a node',
    ),
    port: setting(
      integer(1, 65_535, ''),
      9394,
      'Port of metrics and probes, on every address of the node with hostNetwork',
    ),
    portName: setting(portName(), 'metrics', 'Name of the port in pods and Service'),
    annotations: setting(texts(), {}, 'Annotations of the Service'),
    labels: setting(texts(), {}, 'Labels of the Service'),
  }),
  daemonsetAnnotations: setting(texts(), {}, 'Annotations of the DaemonSet'),
  podAnnotations: setting(texts(), {}, 'Annotations of the pods'),
  podLabels: setting(texts(), {}, 'Labels of the pods'),
  podSecurityContext: setting(part(), {}, 'Security of the pod'),
  securityContext: setting(
    part(),
    {
      runAsUser: 0,
      runAsGroup: 0,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    'Security of the container. Root without capabilities: it opens what root owns, such as the socket of the kubelet',
  ),
  runtimeClassName: setting(anyText(), '', "RuntimeClass; nvidia where NVIDIA's runtime is not that of the node"),
  priorityClassName: setting(
    anyText(),
    'system-node-critical',
    'Priority: a node that runs out of memory keeps its monitoring',
  ),
  updateStrategy: setting(
    part(),
    { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    'How pods are replaced. Two pods cannot share a port of the node, so the old pod ends first',
  ),
  terminationGracePeriodSeconds: setting(integer(1, 3600, 'seconds'), 30, 'Time to stop; Sonde needs 5 s'),
  nodeSelector: setting(texts(), {}, 'Labels of the nodes, such as nvidia.com/gpu.present: "true"'),
  tolerations: setting(
    parts('tolerations'),
    [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    'Taints that do not keep the agent away',
  ),
  affinity: setting(
    part(),
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
                { key: 'eks.amazonaws.com/compute-type', operator: 'NotIn', values: ['fargate'] },
                { key: 'type', operator: 'NotIn', values: ['virtual-kubelet'] },
              ],
            },
          ],
        },
      },
    },
    'Nodes that have hardware',
  ),
  resources: resources('100m', '256Mi', '500m', '512Mi'),
  ...probes,
}
