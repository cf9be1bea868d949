import { block, integer, pattern, setting } from '@sonde/sdk/config'
import type * as v from 'valibot'

/** Options of the pod_nics source in `data_sources`. */
export const podNicsOptions = block({
  log_folder: setting(
    pattern(/^\/[^\0]{0,1023}$/, 'an absolute path of at most 1024 characters'),
    '/var/log',
    'Folder with `pods` and `containers`, which have the names of pods; in a container, the folder of the node',
  ),
  max_namespaces: setting(
    integer(1, 16_384, 'namespaces'),
    1024,
    'Network namespaces that are read; further ones are dropped and counted as `namespace_limit`',
  ),
})

/** Parsed {@link podNicsOptions}. */
export type PodNicsOptions = v.InferOutput<typeof podNicsOptions>
