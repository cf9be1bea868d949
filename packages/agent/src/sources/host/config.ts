import { block, choice, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Parts of the host source; each is one file of the kernel. */
export const HOST_PARTS = ['cpu', 'memory', 'pressure', 'softnet', 'load', 'kernel'] as const

/** Options of the host source in `data_sources`. */
export const hostOptions = block({
  parts: setting(
    v.pipe(
      list(choice(HOST_PARTS), HOST_PARTS.length, 'parts'),
      v.minLength(1, 'at least one part; leave the key out for all'),
    ),
    [...HOST_PARTS],
    'What to read: any of cpu, memory, pressure, softnet, load and kernel',
  ),
})

/** What {@link hostOptions} gives. */
export type HostOptions = v.InferOutput<typeof hostOptions>
