import { joined, textOf } from '../claims.ts'
import { modelWords } from '../words.ts'
import { type DeviceMaker, draftOf } from './draft.ts'

const NAMES = { kind: 'pci', prefix: 'pci' }

/** Every PCI device that is read, including GPUs and NICs. */
export const pcis: DeviceMaker = {
  ...NAMES,
  make: (world) =>
    [...world.pci]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, fact]) => ({
        ...draftOf(world, NAMES, address, { fact, pci: fact }),
        netdevs: joined(fact, 'netdev'),
        series: {},
        model:
          modelWords(textOf(fact, 'model')) ||
          [textOf(fact, 'vendor'), textOf(fact, 'class')].filter(Boolean).join(' '),
      })),
}
