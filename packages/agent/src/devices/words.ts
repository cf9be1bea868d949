import type { Device } from './device.ts'

/**
 * A product name in the usual short form: `H100 SXM 80 GB` for `NVIDIA H100 80GB HBM3`, the driver's name of the SXM
 * board.
 */
export function modelWords(model: string): string {
  const short = model.replace(/^NVIDIA /, '').replaceAll('-', ' ')
  const board = short.replace(/ (\d+) ?GB HBM\w*$/, ' SXM $1GB')
  return board.replace(/\b(SXM)\d\b/, '$1').replace(/(\d)GB\b/, '$1 GB')
}

/** The properties of a device that the words about boards need. */
type Counted = Pick<Device, 'id' | 'model' | 'address' | 'share' | 'about'>

/**
 * Counts boards by model: `8 × H100 SXM 80 GB`. Several models are separated by commas; no boards give an empty text.
 * Ports of one card are functions of one PCI device and count once. Shares of boards follow, are named as shares, and
 * count individually: `2 × ConnectX-7, 64 × ConnectX virtual function`.
 */
export function countWords(devices: readonly Counted[]): string {
  const boardsFirst = [...devices].sort((a, b) => Number(a.share !== null) - Number(b.share !== null))
  const named = Map.groupBy(boardsFirst, boardName)
  const counts = [...named].map(([name, of]) => [name, new Set(of.map(boardKey)).size] as const)
  return counts.map(([name, count]) => `${count} × ${name}`).join(', ')
}

function boardName({ model, share }: Counted): string {
  if (share === null) return model || 'unknown'
  return model.endsWith(share) ? model : `${model} ${share}`.trim()
}

/** A text that all ports of a board have in common, and that differs for each share. */
function boardKey({ id, address, share, about }: Counted): string {
  const slot = share === null ? address.replace(/\.[0-7]$/, '') : address
  return slot || about.key[0] || id
}
