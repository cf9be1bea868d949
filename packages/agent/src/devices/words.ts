import type { Device } from './device.ts'

/** A product name as people say it: `H100 SXM 80 GB` for `NVIDIA H100 80GB HBM3`, which is what the driver says of the SXM board. */
export function modelWords(model: string): string {
  const short = model.replace(/^NVIDIA /, '').replaceAll('-', ' ')
  const board = short.replace(/ (\d+) ?GB HBM\w*$/, ' SXM $1GB')
  return board.replace(/\b(SXM)\d\b/, '$1').replace(/(\d)GB\b/, '$1 GB')
}

/**
 * How many boards there are of which model: `8 × H100 SXM 80 GB`; several models with commas between, empty where there are none. Ports of one card are
 * functions of one PCI device, and count once.
 */
export function countWords(devices: readonly Pick<Device, 'id' | 'model' | 'address'>[]): string {
  const boards = Map.groupBy(devices, ({ model }) => model)
  const slotOf = ({ id, address }: Pick<Device, 'id' | 'address'>) => address.replace(/\.[0-7]$/, '') || id
  const counts = [...boards].map(([model, of]) => [model, new Set(of.map(slotOf)).size] as const)
  return counts.map(([model, count]) => `${count} × ${model || 'unknown'}`).join(', ')
}
