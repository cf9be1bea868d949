import { integer, setting } from '@sonde/sdk/config'
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
})

/** Parsed {@link nvmlOptions}. */
export type NvmlOptions = v.InferOutput<typeof nvmlOptions>
