import * as v from 'valibot'

/** Parts of the host source; each is one file of the kernel. */
export const HOST_PARTS = ['cpu', 'memory', 'pressure', 'softnet', 'load', 'kernel'] as const

/** Options of the host source in `data_sources`. */
export const hostOptions = v.strictObject({
  parts: v.optional(
    v.pipe(
      v.array(v.picklist(HOST_PARTS)),
      v.minLength(1, 'at least one part; leave the key out for all'),
      v.description('What to read: any of cpu, memory, pressure, softnet, load and kernel'),
    ),
    [...HOST_PARTS],
  ),
})

/** What {@link hostOptions} gives. */
export type HostOptions = v.InferOutput<typeof hostOptions>
