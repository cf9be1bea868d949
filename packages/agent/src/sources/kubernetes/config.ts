import { block, boundedText, integer, list, pattern, setting, urlPattern } from '@sonde/sdk/config'
import type * as v from 'valibot'

/** Default time between two questions to the kubelet. Unit: milliseconds. */
export const INTERVAL_MS = 10_000

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Options of the kubernetes source in `data_sources`. */
export const kubernetesOptions = block({
  // A path of a Unix socket has at most 107 bytes.
  kubelet_socket: setting(
    pattern(/^\/[^\0]{1,106}$/, 'an absolute path of at most 107 characters'),
    '/var/lib/kubelet/pod-resources/kubelet.sock',
    'Socket on which the kubelet says which container holds which device (PodResources)',
  ),
  kubelet_timeout_ms: setting(
    integer(100, 60_000, 'milliseconds'),
    5000,
    'Time that the kubelet has for a whole answer. Unit: milliseconds',
  ),
  kubelet_max_bytes: setting(
    integer(1024, 256 << 20, 'bytes'),
    16 << 20,
    'Bytes of one answer of the kubelet; a longer answer is refused as a whole. Unit: bytes',
  ),
  gpu_resources: setting(
    list(boundedText(1, 253), 64, 'names'),
    [],
    'Names of resources that are GPUs too, besides `nvidia.com/gpu`, `nvidia.com/gpu.shared` and `nvidia.com/mig-…`',
  ),
  nic_resources: setting(
    list(boundedText(1, 253), 64, 'names'),
    [],
    'Names of resources that are NICs too, besides `rdma/…` and each resource whose ids are PCI addresses of NICs',
  ),
  api_server: setting(
    urlPattern(/^(auto|off|https?:\/\/[^\s/@]{1,255})$/, 'auto, off, or an address such as https://10.96.0.1:443', [
      'auto',
      'off',
    ]),
    'auto',
    'API server, for labels and phases of pods. `auto`: that of the cluster in whose pod Sonde runs; `off`: none',
  ),
  api_token_file: setting(
    boundedText(0, 4096),
    `${ACCOUNT}/token`,
    'File with the token of the service account; it is read for each request. Empty: no token is sent',
  ),
  api_ca_file: setting(
    boundedText(0, 4096),
    `${ACCOUNT}/ca.crt`,
    'File with the certificates (PEM) that sign that of the API server. Empty: those of Node',
  ),
  api_timeout_ms: setting(
    integer(100, 60_000, 'milliseconds'),
    10_000,
    'Time that the API server has for a whole answer. Unit: milliseconds',
  ),
  api_max_bytes: setting(
    integer(1024, 256 << 20, 'bytes'),
    32 << 20,
    'Bytes of one answer, which has up to 500 pods; a longer answer is refused as a whole. Unit: bytes',
  ),
  node_name: setting(
    boundedText(0, 253),
    '',
    'Name of this node in Kubernetes. Empty: the variable NODE_NAME, or else the host name',
  ),
  pod_labels: setting(
    list(
      pattern(/^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, 'the key of a label'),
      64,
      'keys',
    ),
    [],
    'Keys of labels of pods that are read too, for `export.prometheus.copy_pod_labels`',
  ),
  pod_labels_max: setting(
    integer(0, 16, 'labels'),
    8,
    'Labels of one pod that are read by `pod_labels`, in its order; further labels are dropped and counted as `pod_label_limit`',
  ),
  max_pods: setting(
    integer(16, 65_536, 'pods'),
    4096,
    'Pods of this node whose labels are kept; further pods are dropped and counted as `pod_limit`',
  ),
  max_devices: setting(
    integer(16, 65_536, 'devices'),
    4096,
    'Devices of containers that are reported; further devices are dropped and counted as `device_limit`',
  ),
})

/** Parsed {@link kubernetesOptions}. */
export type KubernetesOptions = v.InferOutput<typeof kubernetesOptions>
