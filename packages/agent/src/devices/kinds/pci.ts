import { factText, joinedNames } from '../claims.ts'
import { modelWords } from '../words.ts'
import { type DeviceMaker, makeDraft } from './draft.ts'

const NAMES = { kind: 'pci', prefix: 'pci' }

/** Every PCI device that is read, including GPUs and NICs. */
export const pcis: DeviceMaker = {
  ...NAMES,
  make: (world) =>
    [...world.pci]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, fact]) => ({
        ...makeDraft(world, NAMES, address, { fact, pci: fact }),
        netdevs: joinedNames(fact, 'netdev'),
        series: {},
        model:
          modelWords(factText(fact, 'model')) ||
          [factText(fact, 'vendor'), factText(fact, 'class')].filter(Boolean).join(' '),
      })),
}
