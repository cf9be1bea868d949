import { flag, integer, setting } from '@sonde/sdk/config'
import * as v from 'valibot'
import { devicesOption } from '../device-filter.ts'

/** Options of the ethtool source in `data_sources`. */
export const ethtoolOptions = v.strictObject({
  devices: devicesOption,
  virtual: setting(
    flag(),
    false,
    'Whether interfaces without hardware are read too: bridges, veth pairs, tunnels, adapters of a virtual machine (virtio)',
  ),
  queues: setting(
    flag(),
    false,
    'Whether the statistics of single queues are read, of which there are hundreds a device',
  ),
  driver_counters: setting(
    integer(0, 65_536, 'statistics a device'),
    512,
    'Statistics of one device in `ethtool_driver` at most; further ones are dropped and counted',
  ),
  stuck_ms: setting(
    integer(50, 60_000, 'milliseconds'),
    2000,
    'A driver that does not answer for longer is stuck; the other interfaces are read all the same',
  ),
})

/** What {@link ethtoolOptions} gives. */
export type EthtoolOptions = v.InferOutput<typeof ethtoolOptions>
