import { choice, flag, integer, pattern, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the NVML source in `data_sources`. */
export const nvmlOptions = v.strictObject({
  devices: devicesOption,
  stuck_ms: setting(
    integer(50, 60_000, 'milliseconds'),
    2000,
    'A GPU that does not answer for longer is stuck; the others are read all the same',
  ),
  process_owners: setting(
    choice(['auto', 'always', 'off']),
    'auto',
    'Whether pods, Slurm jobs and containers are found by the processes on a GPU; `auto` needs the PID namespace of the machine',
  ),
  export_processes: setting(flag(), false, 'Whether `/metrics` has a series for each process on a GPU (`gpu_process`)'),
  job_folder: setting(
    pattern(/^(\/[^\0]{0,1023})?$/, 'an absolute path of at most 1024 characters, or an empty text'),
    '',
    'Folder of the job mapping files of dcgm-exporter, with the jobs of each GPU; empty: there is none',
  ),
  log_folder: setting(
    pattern(/^\/[^\0]{0,1023}$/, 'an absolute path of at most 1024 characters'),
    '/var/log',
    'Folder with `pods` and `containers`, which have the names of pods; in a container, the folder of the node',
  ),
})

/** Parsed {@link nvmlOptions}. */
export type NvmlOptions = v.InferOutput<typeof nvmlOptions>
