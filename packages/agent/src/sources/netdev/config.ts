import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the netdev source in `data_sources`. */
export const netdevOptions = v.strictObject({ devices: devicesOption })

/** What {@link netdevOptions} gives. */
export type NetdevOptions = v.InferOutput<typeof netdevOptions>
