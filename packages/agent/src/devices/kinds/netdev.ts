import { entityName } from '../claims.ts'
import { presentLast } from '../world.ts'
import { compareDeviceNames, type DeviceMaker, type Draft, makeDraft } from './draft.ts'

const NAMES = { kind: 'netdev', prefix: 'net' }

/** Interfaces that belong to no NIC. */
export const netdevs: DeviceMaker = {
  ...NAMES,
  make(world, before) {
    const taken = new Set(before.flatMap(({ netdevs }) => netdevs))
    return presentLast([...world.netdevs.values()])
      .filter((fact) => !taken.has(entityName(fact)))
      .map((fact): Draft => {
        const name = entityName(fact)
        return { ...makeDraft(world, NAMES, name, { fact, pci: world.pciOfNetdev.get(name) }), netdevs: [name] }
      })
      .sort((a, b) => compareDeviceNames(a.name, b.name))
  },
}
