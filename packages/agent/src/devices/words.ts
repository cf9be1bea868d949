import type { Device } from './device.ts'

/**
 * A product name as people say it: `H100 SXM 80 GB` for `NVIDIA H100 80GB HBM3`, which is what the driver says of the
 * SXM board.
 */
export function modelWords(model: string): string {
  const short = model.replace(/^NVIDIA /, '').replaceAll('-', ' ')
  const board = short.replace(/ (\d+) ?GB HBM\w*$/, ' SXM $1GB')
  return board.replace(/\b(SXM)\d\b/, '$1').replace(/(\d)GB\b/, '$1 GB')
}

/** What words about boards need to know of a device. */
type Counted = Pick<Device, 'id' | 'model' | 'address' | 'share' | 'about'>

/**
 * How many boards there are of which model: `8 × H100 SXM 80 GB`; several models with commas between, empty where there
 * are none. Ports of one card are functions of one PCI device, and count once. Shares of boards come after them, are
 * named as such, and count each: `2 × ConnectX-7, 64 × ConnectX virtual function`.
 */
export function countWords(devices: readonly Counted[]): string {
  const boardsFirst = [...devices].sort((a, b) => Number(a.share !== null) - Number(b.share !== null))
  const named = Map.groupBy(boardsFirst, nameOf)
  const counts = [...named].map(([name, of]) => [name, new Set(of.map(placeOf)).size] as const)
  return counts.map(([name, count]) => `${count} × ${name}`).join(', ')
}

function nameOf({ model, share }: Counted): string {
  if (share === null) return model || 'unknown'
  return model.endsWith(share) ? model : `${model} ${share}`.trim()
}

/** What is the same for all ports of a board, and of a share its own. */
function placeOf({ id, address, share, about }: Counted): string {
  const slot = share === null ? address.replace(/\.[0-7]$/, '') : address
  return slot || about.key[0] || id
}
