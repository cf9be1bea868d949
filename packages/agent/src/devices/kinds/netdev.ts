import { nameOf } from '../claims.ts'
import { presentLast } from '../world.ts'
import { compareNames, type DeviceMaker, type Draft, draftOf } from './draft.ts'

const NAMES = { kind: 'netdev', prefix: 'net' }

/** Interfaces that belong to no NIC. */
export const netdevs: DeviceMaker = {
  ...NAMES,
  make(world, before) {
    const taken = new Set(before.flatMap(({ netdevs }) => netdevs))
    return presentLast([...world.netdevs.values()])
      .filter((fact) => !taken.has(nameOf(fact)))
      .map((fact): Draft => {
        const name = nameOf(fact)
        return { ...draftOf(world, NAMES, name, { fact, pci: world.pciOfNetdev.get(name) }), netdevs: [name] }
      })
      .sort((a, b) => compareNames(a.name, b.name))
  },
}
