import { pciAerType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import type { Simulation } from '../simulation.ts'
import { whole } from './column.ts'
import type { GpuRows } from './gpu-rows.ts'
import type { NicRows } from './nic-rows.ts'
import { Rows } from './rows.ts'

/** Records of PCIe errors by name: of each device those that it has counted. */
export class AerRows {
  readonly #simulation: Simulation
  readonly #context: SourceContext
  readonly #one = new Float64Array(1)
  #rows: Rows | undefined
  #names: readonly string[] = []

  constructor(simulation: Simulation, context: SourceContext) {
    this.#simulation = simulation
    this.#context = context
  }

  /** Reports what the readers of GPUs and NICs have last seen. */
  sample(time: bigint, gpus: GpuRows, nics: NicRows): void {
    const { aerNames } = this.#simulation
    if (this.#names.length !== aerNames.length) this.#follow()
    const readers = [...gpus.readers, ...nics.readers]
    readers.forEach((reader, device) => {
      for (let name = 0; name < aerNames.length; name++) {
        const row = device * aerNames.length + name
        const count = reader.pci.aerOf(name)
        this.#one[0] = count
        this.#rows?.write(row, this.#one)
        if (count === 0) this.#rows?.skip(row)
      }
    })
    this.#rows?.report(time)
  }

  #follow(): void {
    const { node, aerNames } = this.#simulation
    this.#names = aerNames
    const rows = [...node.gpus, ...node.nics].flatMap(({ address }) =>
      aerNames.map((name) => {
        const [severity = '', error = ''] = name.split('/')
        return { labels: { device: address, severity, error } }
      }),
    )
    this.#rows = new Rows(this.#context, pciAerType, { errors_total: whole(0) }, rows)
  }
}
