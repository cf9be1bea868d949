import { pattern, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the dcb source in `data_sources`. */
export const dcbOptions = v.strictObject({
  devices: devicesOption,
  dcb: setting(
    pattern(/^[^\0]{1,1024}$/, 'a path or a name of at most 1024 characters'),
    'dcb',
    'Program of iproute2 that shows quality of service; a name without a slash is searched in PATH',
  ),
})

/** What {@link dcbOptions} gives. */
export type DcbOptions = v.InferOutput<typeof dcbOptions>
