import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType } from '../../nvml/type.ts'
import { pciDeviceType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { GpuReader } from '../observe/gpu-reader.ts'
import { missedDevice } from '../observe/missed.ts'
import { GPU_READ_COUNT } from '../observe/readings.ts'
import type { Simulation } from '../simulation.ts'
import { GPU_COLUMNS, PROFILE_COLUMNS } from './gpu-columns.ts'
import { gpuLabels, infoOf, pciFacts } from './gpu-facts.ts'
import { MigRows } from './mig-rows.ts'
import { PCI_COLUMNS } from './pci-facts.ts'
import { type RowFacts, Rows } from './rows.ts'
import { XidRows } from './xid-rows.ts'

const LOST = 'the GPU has fallen off the bus'

/** Records of all GPUs. */
export class GpuRows {
  /** What was last read, by `GPU_READ`. */
  readonly numbers: readonly Float64Array[]
  readonly readers: readonly GpuReader[]
  readonly #simulation: Simulation
  readonly #context: SourceContext
  readonly #info: Rows
  readonly #state: Rows
  readonly #profile: Rows
  readonly #pci: Rows
  /** Made anew when effects change, as these bring series. */
  #xids: XidRows | undefined
  #mig: MigRows | undefined
  #version = -1

  constructor(simulation: Simulation, context: SourceContext) {
    const { gpus } = simulation.node
    this.#simulation = simulation
    this.#context = context
    this.numbers = gpus.map(() => new Float64Array(GPU_READ_COUNT))
    this.readers = gpus.map((gpu) => new GpuReader(simulation, gpu))
    const rows = (facts: (gpu: GpuPlace) => Omit<RowFacts, 'labels'>) =>
      gpus.map((gpu): RowFacts => ({ labels: gpuLabels(simulation.seed, gpu), ...facts(gpu) }))
    this.#info = new Rows(
      context,
      nvmlGpuInfoType,
      {},
      rows((gpu) => ({ facts: infoOf(gpu) })),
    )
    const reasons = { gpu_util: 'a GPU that MIG splits has no utilisation of its own' }
    const memory = ({ model }: GpuPlace) => ({ fb_total: model.memoryMiB, fb_reserved: model.reservedMiB })
    this.#state = new Rows(
      context,
      nvmlGpuType,
      GPU_COLUMNS,
      rows((gpu) => ({ facts: memory(gpu), reasons })),
    )
    this.#profile = new Rows(
      context,
      nvmlProfileType,
      PROFILE_COLUMNS,
      rows(() => ({})),
    )
    this.#pci = new Rows(context, pciDeviceType, PCI_COLUMNS, gpus.map(pciFacts))
  }

  /** Reads every GPU and reports it, a part at a time. */
  *sample(time: bigint, t: number, intervalS: number): Generator<void, void> {
    if (this.#version !== this.#simulation.version) this.#follow()
    const missed = missedDevice(this.#simulation.seed, this.numbers.length, t)
    for (const [index, reader] of this.readers.entries()) {
      yield
      const numbers = this.numbers[index] as Float64Array
      const isThere = reader.read(numbers, t, intervalS)
      yield
      this.#pci.write(index, reader.pci.numbers)
      for (const rows of [this.#info, this.#state, this.#profile]) {
        if (isThere) rows.come(index)
        else rows.leave(index, LOST)
      }
      if (!isThere) continue
      this.#state.write(index, numbers)
      this.#profile.write(index, numbers)
      if (index === missed) this.#profile.skip(index)
    }
    yield
    for (const rows of [this.#info, this.#state, this.#profile, this.#pci]) rows.report(time)
    yield
    this.#xids?.sample(time, t)
    const layouts = this.readers.map((reader) => reader.migAt(t))
    this.#mig?.sample(time, layouts, this.numbers)
  }

  #follow(): void {
    this.#version = this.#simulation.version
    this.#xids = new XidRows(this.#simulation, this.#context)
    this.#mig = new MigRows(this.#simulation, this.#context)
  }
}
