import type { DeviceInfo } from '../api/devices.ts'
import { niceTop } from '../chart/scale.ts'
import { largestOfLast } from './interface-data.ts'

/** The signal that fired, for the sparkline of a tile. */
export interface Fired {
  readonly metric: string
  readonly values: Float64Array
}

/** Greatest value of a kind of signal: a whole second, 100 %, or the temperature at which every GPU has slowed down. */
const TOPS: readonly (readonly [metric: RegExp, top: number])[] = [
  [/_pause_seconds_total$/, 1],
  [/^DCGM_FI_PROF_.*_ACTIVE$|_ratio$|_responsive$/, 1],
  [/_TEMP$/, 100],
]

/**
 * Top of the sparkline of a hint. It is fixed by the kind of signal, so that a long loss stays visible as a low line.
 * For counts it is the largest shown value.
 */
export function firedTop({ metric, values }: Fired, { limits }: DeviceInfo): number {
  const link = limits.pcie_bytes_per_s
  if (metric === 'pci_device_current_link_bandwidth_bytes_per_second' && link) return link
  return TOPS.find(([kind]) => kind.test(metric))?.[1] ?? niceTop(largestOfLast(values, values.length), 1)
}
