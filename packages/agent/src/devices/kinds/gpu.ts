import { labelOf } from '@sonde/sdk/internal'
import { bandwidthOf, GENERATION_TRANSFERS_PER_SECOND } from '../../sources/pci/bandwidth.ts'
import { entityName, factNumber, factText } from '../claims.ts'
import type { EntityFact } from '../facts.ts'
import { modelWords } from '../words.ts'
import { factAddress, type World } from '../world.ts'
import { type DeviceMaker, type Draft, isVirtual, knownLimits, linkLimit, makeDraft } from './draft.ts'

/** PCI classes of GPUs; empty if the class is unknown. */
const GPU_CLASSES: ReadonlySet<string> = new Set(['', 'gpu', 'accelerator'])

const NAMES = { kind: 'gpu', prefix: 'gpu' }

/** GPUs: first those that their library reports, then those that only the bus reports. */
export const gpus: DeviceMaker = {
  ...NAMES,
  make(world) {
    const told = toldGpus(world)
    const silent = silentGpus(world, new Set(told.map(({ address }) => address)))
    return [...told, ...silent].sort((a, b) => a.index - b.index)
  },
}

function toldGpus(world: World): Draft[] {
  return world.defined('gpu').map((fact, place): Draft => {
    // People call a GPU by its index. Two exporters may leave it out; then only the UUID is left.
    const number = labelOf(fact.labels, 'gpu') || entityName(fact)
    // The bus has priority: no exporter can take the address of a NIC with a GPU of its own.
    const address = isNoGpu(world.pci.get(factAddress(fact))) ? '' : factAddress(fact)
    const pci = world.pci.get(address)
    const slot = bandwidthOf(
      GENERATION_TRANSFERS_PER_SECOND[(factNumber(fact, 'pcie_generation_max') ?? 0) - 1],
      factNumber(fact, 'pcie_width_max_lanes'),
    )
    return {
      ...makeDraft(world, NAMES, number, { fact, pci, address }),
      index: /^\d{1,6}$/.test(number) ? Number(number) : place,
      isRailed: true,
      name: `GPU ${number}`,
      model: modelWords(labelOf(fact.labels, 'modelName') || factText(pci, 'model')),
      limits: knownLimits({
        power_watts: factNumber(fact, 'power_limit_max_watts'),
        memory_bytes: factNumber(fact, 'memory_bytes'),
        pcie_bytes_per_s: linkLimit(world, pci) ?? slot,
      }),
    }
  })
}

/** Whether a PCI device is known to be no GPU. */
export function isNoGpu(pci: EntityFact | undefined): boolean {
  return pci !== undefined && !GPU_CLASSES.has(factText(pci, 'class'))
}

/**
 * GPUs that only the bus reports, such as GPUs without a driver. They are numbered as NVML numbers them: by address.
 */
function silentGpus(world: World, told: ReadonlySet<string>): Draft[] {
  const facts = [...world.pci]
    .filter(([address, fact]) => factText(fact, 'class') === 'gpu' && !isVirtual(fact) && !told.has(address))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return facts.map(([address, fact], place) => {
    const number = told.size === 0 ? String(place) : address
    return {
      ...makeDraft(world, NAMES, number, { fact, pci: fact }),
      index: told.size + place,
      isRailed: true,
      name: `GPU ${number}`,
      model: modelWords(factText(fact, 'model')),
    }
  })
}
