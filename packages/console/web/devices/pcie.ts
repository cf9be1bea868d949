import type { DeviceInfo } from '../api/devices.ts'
import { formatQuantity } from '../format/number.ts'
import { PERCENT } from '../format/quantity.ts'
import type { DeviceColumns } from './device-columns.ts'
import { lastValue, meanReading, type ReadSpan } from './device-reading.ts'

/** Transfers per second and lane of each PCIe generation. */
const GENERATIONS: readonly (readonly [transfersPerSecond: number, generation: number])[] = [
  [64e9, 6],
  [32e9, 5],
  [16e9, 4],
  [8e9, 3],
  [5e9, 2],
  [2.5e9, 1],
]

/**
 * Least load of a GPU for which a slow link is trouble, because an idle GPU slows its link to save power. Same value as
 * in the rule `pcie_downtrain`. Unit: bytes a second.
 */
const LOAD_MIN = 1e9

/** Readings of a PCIe link. Unknown numbers are NaN. */
export interface LinkReading {
  readonly generation: number
  readonly generationMax: number
  readonly width: number
  readonly widthMax: number
  /** Bytes a second and direction that the link can carry as it runs. */
  readonly bandwidth: number
  /** Bytes per second in the busier direction; NaN without a counter. */
  readonly load: number
  /** Whether the device slows its link down when it is idle, as GPUs do. */
  readonly savesPower: boolean
}

/** The generation of a signalling rate, NaN if it is none. */
export function linkGeneration(transfersPerSecond: number): number {
  return GENERATIONS.find(([rate]) => Math.abs(transfersPerSecond - rate) < rate * 0.02)?.[1] ?? Number.NaN
}

/**
 * Reads the link of a device from its newest samples, or from a window: its last state and mean load. If no source
 * reports the speed, the maximum bandwidth is used.
 */
export function linkReading(
  columns: DeviceColumns,
  { kind, limits }: Pick<DeviceInfo, 'kind' | 'limits'>,
  span: ReadSpan = { stepMs: 1_000, isNow: true },
): LinkReading {
  const bandwidth = lastValue(columns.bandwidth, span)
  const loads = [columns.pcieSent, columns.pcieReceived]
    .map((values) => meanReading(values, span).value)
    .filter((load) => !Number.isNaN(load))
  return {
    generation: linkGeneration(lastValue(columns.speed, span)),
    generationMax: linkGeneration(lastValue(columns.speedMax, span)),
    width: lastValue(columns.width, span),
    widthMax: lastValue(columns.widthMax, span),
    bandwidth: bandwidth > 0 ? bandwidth : (limits.pcie_bytes_per_s ?? Number.NaN),
    load: loads.length > 0 ? Math.max(...loads) : Number.NaN,
    savesPower: kind === 'gpu',
  }
}

/** `Gen5 ×16`; empty if nothing is known. */
export function linkName(generation: number, width: number): string {
  return [Number.isNaN(generation) ? '' : `Gen${generation}`, width > 0 ? `×${width}` : ''].filter(Boolean).join(' ')
}

/**
 * Whether a link runs below the capability of the device. A slow link of a GPU with low or unknown load is fine,
 * because it saves power. Saving power never costs lanes.
 */
export function isDowntrained({ generation, generationMax, width, widthMax, load, savesPower }: LinkReading): boolean {
  const isNarrow = width > 0 && width < widthMax
  const isSlow = generation < generationMax && (!savesPower || load >= LOAD_MIN)
  return isNarrow || isSlow
}

/** The link in words: `Gen5 ×16`; `Gen5 ×8 of ×16` if it lost lanes, `Gen3 ×16 of Gen5` if it lost speed. */
export function linkWords(link: LinkReading): string {
  const { generation, generationMax, width, widthMax } = link
  const now = linkName(generation, width)
  if (now === '' || !isDowntrained(link)) return now
  const best = [generation < generationMax ? `Gen${generationMax}` : '', width < widthMax ? `×${widthMax}` : '']
  return `${now} of ${best.filter(Boolean).join(' ')}`
}

/** Share of the link that is in use, 0 to 1; NaN if it is not known. */
function linkUse({ load, bandwidth }: LinkReading): number {
  return bandwidth > 0 ? load / bandwidth : Number.NaN
}

/** The share in words: `46 %`; empty if it is not known. */
export function linkUseWords(link: LinkReading): string {
  const use = linkUse(link)
  if (Number.isNaN(use)) return ''
  return use < 0.01 ? formatQuantity(PERCENT, use) : `${Math.round(use * 100)}\u00a0%`
}
