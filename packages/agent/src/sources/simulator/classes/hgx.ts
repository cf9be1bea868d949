import { BLUEFIELD_3, CONNECTX_7 } from './hardware.ts'
import type { GpuModel, GpuPlace, NicPlace, NodeClass } from './node-class.ts'

/** First buses of the eight PCIe switches, four per processor. */
const SWITCH_BUSES = [0x15, 0x37, 0x48, 0x59, 0x97, 0xb7, 0xc7, 0xd7]
const STORAGE_BUS = 0x29

const bus = (number: number) => `0000:${number.toString(16).padStart(2, '0')}`

/**
 * A node with eight GPUs on NVSwitch and eight NICs of 400 Gb/s. GPU and NIC of a rail share a PCIe switch: root port,
 * upstream port, and a downstream port for each. Two bonded ports of a BlueField-3 serve storage and management.
 */
export function hgxClass(name: string, model: GpuModel): NodeClass {
  const gpus = SWITCH_BUSES.map(
    (root, index): GpuPlace => ({
      index,
      model,
      address: `${bus(root + 4)}:00.0`,
      path: [`${bus(root)}:01.0`, `${bus(root + 1)}:00.0`, `${bus(root + 2)}:01.0`],
      numaNode: index >> 2,
    }),
  )
  const rails = SWITCH_BUSES.map((root, index): NicPlace => {
    const address = `${bus(root + 3)}:00.0`
    const netdev = `eth${10 + index}`
    return {
      index,
      model: CONNECTX_7,
      role: 'training',
      device: `mlx5_${index}`,
      address,
      path: [`${bus(root)}:01.0`, `${bus(root + 1)}:00.0`, `${bus(root + 2)}:00.0`],
      numaNode: index >> 2,
      netdev,
      ports: [{ netdev, address }],
      representors: [],
    }
  })
  return {
    name,
    summary: `8 × ${model.name}, 8 × 400 Gb/s, BlueField-3 for storage`,
    gpus,
    nics: [...rails, storage(8)],
  }
}

function storage(index: number): NicPlace {
  const address = (port: number) => `${bus(STORAGE_BUS + 1)}:00.${port}`
  return {
    index,
    model: BLUEFIELD_3,
    role: 'storage',
    device: 'mlx5_bond_0',
    address: address(0),
    path: [`${bus(STORAGE_BUS)}:01.0`],
    numaNode: 0,
    netdev: 'bond0',
    ports: [0, 1].map((port) => ({ netdev: `eth${18 + port}`, address: address(port) })),
    representors: [],
  }
}
