import { pciAerType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import type { Simulation } from '../simulation.ts'
import { ReportRows } from './report-rows.ts'

/** A counter of PCIe errors: a device, or a port of a bridge. */
export interface AerCounter {
  readonly address: string
  /** Count by the index of the error's name in the simulation. */
  readonly aerOf: (name: number) => number
}

/** Records of PCIe errors by name; a device has a record for each error that it has counted. */
export class AerRows {
  readonly #simulation: Simulation
  readonly #context: SourceContext
  readonly #counters: readonly AerCounter[]
  #rows: ReportRows<number> | undefined
  #names: readonly string[] = []

  constructor(simulation: Simulation, context: SourceContext, counters: readonly AerCounter[]) {
    this.#simulation = simulation
    this.#context = context
    this.#counters = counters
  }

  /** Reports the values that the readers of devices and bridges saw last. */
  sample(time: bigint): void {
    const { aerNames } = this.#simulation
    if (this.#names.length !== aerNames.length) this.#follow()
    this.#counters.forEach(({ aerOf }, device) => {
      for (let name = 0; name < aerNames.length; name++) {
        const row = device * aerNames.length + name
        const count = aerOf(name)
        this.#rows?.write(row, count)
        if (count === 0) this.#rows?.skip(row)
      }
    })
    this.#rows?.report(time)
  }

  #follow(): void {
    const { aerNames } = this.#simulation
    this.#names = aerNames
    const rows = this.#counters.flatMap(({ address }) =>
      aerNames.map((name) => {
        const [severity = '', error = ''] = name.split('/')
        return { labels: { pci_address: address, severity, error } }
      }),
    )
    this.#rows = new ReportRows(this.#context, pciAerType, { errors_total: (count: number) => count }, rows)
  }
}
