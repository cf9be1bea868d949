import type { Device } from './device.ts'

/** A product name as people say it: `H100 SXM 80 GB` for `NVIDIA H100 80GB HBM3`, which is what the driver says of the SXM board. */
export function modelWords(model: string): string {
  const short = model.replace(/^NVIDIA /, '').replaceAll('-', ' ')
  const board = short.replace(/ (\d+) ?GB HBM\w*$/, ' SXM $1GB')
  return board.replace(/\b(SXM)\d\b/, '$1').replace(/(\d)GB\b/, '$1 GB')
}

/** How many of which there are: `8 × H100 SXM 80 GB`; several models with commas between, empty where there are none. */
export function countWords(devices: readonly Pick<Device, 'model'>[]): string {
  const counts = new Map<string, number>()
  for (const { model } of devices) counts.set(model, (counts.get(model) ?? 0) + 1)
  return [...counts].map(([model, count]) => `${count} × ${model || 'unknown'}`).join(', ')
}
