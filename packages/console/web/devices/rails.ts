import type { DeviceInfo } from '../api/devices.ts'
import { compareNames } from '../format/names.ts'
import { deviceTitle } from './device.ts'

/** Rails beside each other; more wrap into the next block. */
export const RAILS_A_BLOCK_COUNT = 8

/** A column: a GPU, its closest NICs, and their PCIe switch. */
export interface Rail {
  readonly number: number
  readonly gpu: DeviceInfo
  /** At least one; several where an adapter has two ports, or one for storage hangs on the same switch. */
  readonly nics: readonly DeviceInfo[]
  /** Upstream port of the PCIe switch that GPU and a NIC hang on; undefined if they share none. */
  readonly switch: string | undefined
}

/** Adjacent rails on the same PCIe switch. */
export interface SwitchSpan {
  readonly switch: string
  /** Places of the first and the last rail in their block. */
  readonly first: number
  readonly last: number
}

/** Up to eight rails side by side. */
export interface RailBlock {
  readonly rails: readonly Rail[]
  readonly spans: readonly SwitchSpan[]
}

/** How the devices of a node stand on its overview. */
export interface RailLayout {
  /** Columns of GPU, link and NIC; empty if the devices cannot be paired. */
  readonly blocks: readonly RailBlock[]
  /** Devices in no column, in rows of their own. */
  readonly gpus: readonly DeviceInfo[]
  readonly nics: readonly DeviceInfo[]
}

/** Puts GPUs and NICs into columns by rail. If they cannot be paired, they form two plain rows without links. */
export function railLayout(devices: readonly DeviceInfo[]): RailLayout {
  const gpus = devices.filter(({ kind }) => kind === 'gpu').sort(byTitle)
  const nics = devices.filter(({ kind }) => kind === 'nic').sort(byTitle)
  const rails = pairUp(gpus, nics)
  if (!rails) return { blocks: [], gpus, nics }
  const placed = new Set(rails.flatMap((rail) => rail.nics))
  const blocks: RailBlock[] = []
  for (let at = 0; at < rails.length; at += RAILS_A_BLOCK_COUNT) {
    const block = rails.slice(at, at + RAILS_A_BLOCK_COUNT)
    blocks.push({ rails: block, spans: spansOf(block) })
  }
  return { blocks, gpus: [], nics: nics.filter((nic) => !placed.has(nic)) }
}

function byTitle(a: DeviceInfo, b: DeviceInfo): number {
  // NICs without a rail do other work.
  const placed = Number(a.rail === null) - Number(b.rail === null)
  return placed || compareNames(deviceTitle(a), deviceTitle(b)) || compareNames(a.id, b.id)
}

/**
 * Exactly one GPU a rail, and no rail without a NIC; NICs in no rail, such as those for storage, are left to stand
 * apart.
 */
function pairUp(gpus: readonly DeviceInfo[], nics: readonly DeviceInfo[]): readonly Rail[] | undefined {
  const nicsOf = Map.groupBy(
    nics.filter(({ rail }) => rail !== null),
    ({ rail }) => rail,
  )
  const numbers = new Set(gpus.map(({ rail }) => rail))
  if (gpus.length === 0 || numbers.size !== gpus.length || nicsOf.size !== gpus.length) return undefined
  const rails: Rail[] = []
  for (const gpu of gpus.toSorted((a, b) => (a.rail ?? 0) - (b.rail ?? 0))) {
    const own = nicsOf.get(gpu.rail)
    if (gpu.rail === null || !own) return undefined
    const isShared = Boolean(gpu.switch) && own.some((nic) => nic.switch === gpu.switch)
    rails.push({ number: gpu.rail, gpu, nics: own, switch: isShared ? (gpu.switch ?? undefined) : undefined })
  }
  return rails
}

function spansOf(rails: readonly Rail[]): SwitchSpan[] {
  const spans: SwitchSpan[] = []
  rails.forEach((rail, place) => {
    if (rail.switch === undefined) return
    const before = spans.at(-1)
    if (before?.switch === rail.switch && before.last === place - 1)
      spans[spans.length - 1] = { ...before, last: place }
    else spans.push({ switch: rail.switch, first: place, last: place })
  })
  return spans
}
