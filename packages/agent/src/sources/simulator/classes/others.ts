import { BLUEFIELD_3, CONNECTX_6, H100_PCIE, L40S } from './hardware.ts'
import type { NicPlace, NodeClass } from './node-class.ts'

/**
 * A host with a BlueField-3, seen from the host: two ports of 200 Gb/s, and representors. MIG splits the second GPU.
 */
export const dpuHost: NodeClass = {
  name: 'dpu-host',
  summary: '2 × NVIDIA H100 PCIe, one of them split by MIG, BlueField-3 with 2 × 200 Gb/s',
  gpus: [
    { index: 0, model: H100_PCIE, address: '0000:17:00.0', path: ['0000:16:01.0'], numaNode: 0 },
    {
      index: 1,
      model: H100_PCIE,
      address: '0000:65:00.0',
      path: ['0000:64:01.0'],
      numaNode: 1,
      mig: [
        { profile: '3g.40gb', load: 0.9 },
        { profile: '2g.20gb', load: 0.4 },
        { profile: '1g.10gb', load: 0 },
      ],
    },
  ],
  nics: [0, 1].map((index): NicPlace => {
    const address = `0000:ca:00.${index}`
    const netdev = `eth${10 + index}`
    return {
      index,
      model: BLUEFIELD_3,
      role: 'training',
      device: `mlx5_${index}`,
      address,
      path: ['0000:c9:01.0'],
      numaNode: 1,
      netdev,
      ports: [{ netdev, address }],
      representors: [`pf${index}hpf`, `pf${index}vf0`, `pf${index}vf1`],
    }
  }),
}

/** A small node: one GPU without NVLink and MIG, one NIC of 100 Gb/s, one NUMA node. */
export const small: NodeClass = {
  name: 'small',
  summary: '1 × NVIDIA L40S, 1 × 100 Gb/s',
  gpus: [{ index: 0, model: L40S, address: '0000:41:00.0', path: ['0000:40:01.0'], numaNode: 0 }],
  nics: [
    {
      index: 0,
      model: CONNECTX_6,
      role: 'training',
      device: 'mlx5_0',
      address: '0000:81:00.0',
      path: ['0000:80:01.0'],
      numaNode: 0,
      netdev: 'eth10',
      ports: [{ netdev: 'eth10', address: '0000:81:00.0' }],
      representors: [],
    },
  ],
}
