import { block, choice, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicePatterns } from '../device-filter.ts'

/** Parts of the host source; most of them read a single file of the kernel. */
export const HOST_PARTS = [
  'cpu',
  'memory',
  'pressure',
  'softnet',
  'load',
  'kernel',
  'vm',
  'disks',
  'network',
  'numa',
  'sensors',
  'thermal_zones',
  'memory_errors',
  'cpu_packages',
] as const

/** Options of the host source in `data_sources`. */
export const hostOptions = block({
  parts: setting(
    v.pipe(
      list(choice(HOST_PARTS), HOST_PARTS.length, 'parts'),
      v.minLength(1, 'at least one part; leave the key out for all'),
    ),
    [...HOST_PARTS],
    `What to read: any of ${HOST_PARTS.join(', ')}`,
  ),
  disks: setting(
    devicePatterns,
    ['!loop*', '!ram*', '!zram*', '!fd*'],
    'Patterns of the disks to read, as `devices` of other sources; partitions are never read',
  ),
})

/** Options of the host source after validation. */
export type HostSourceOptions = v.InferOutput<typeof hostOptions>
