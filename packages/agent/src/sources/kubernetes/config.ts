import { block, boundedText, integer, list, pattern, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'

/** Default time between two questions to the kubelet. Unit: milliseconds. */
export const INTERVAL_MS = 10_000

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
  max_devices: setting(
    integer(16, 65_536, 'devices'),
    4096,
    'Devices of containers that are reported; further devices are dropped and counted as `device_limit`',
  ),
})

/** Parsed {@link kubernetesOptions}. */
export type KubernetesOptions = v.InferOutput<typeof kubernetesOptions>
