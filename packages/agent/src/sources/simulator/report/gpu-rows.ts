import { ownGpuLabels } from '../../nvml/labels.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType } from '../../nvml/type.ts'
import { pciDeviceType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { GpuReader } from '../observe/gpu-reader.ts'
import { missedDevice } from '../observe/missed.ts'
import type { Simulation } from '../simulation.ts'
import { MigRows } from './mig-rows.ts'
import { NVML_GPU } from './nvml-gpu.ts'
import { gpuLabels, infoOf } from './nvml-gpu-info.ts'
import { NVML_PROFILE } from './nvml-profile.ts'
import { gpuRow, PCI_DEVICE } from './pci.ts'
import { ReportRows, type RowFacts } from './report-rows.ts'
import { XidRows } from './xid-rows.ts'

const LOST = 'the GPU has fallen off the bus'
const SPLIT = { gpu_util: 'a GPU that MIG splits has no utilisation of its own' }

/** Records of all GPUs. */
export class GpuRows {
  readonly readers: readonly GpuReader[]
  readonly #simulation: Simulation
  readonly #context: SourceContext
  readonly #info: ReportRows<GpuReader>
  readonly #state: ReportRows<GpuReader>
  readonly #profile: ReportRows<GpuReader>
  readonly #pci: ReportRows<GpuReader>
  /** Created again when effects change, because they may add series. */
  #xids: XidRows | undefined
  #mig: MigRows | undefined
  #version = -1

  constructor(simulation: Simulation, context: SourceContext) {
    const { gpus } = simulation.node
    const rows = (factsOf: (gpu: GpuPlace) => Omit<RowFacts, 'labels'>) =>
      gpus.map((gpu): RowFacts => ({ labels: gpuLabels(simulation.seed, gpu), ...factsOf(gpu) }))
    const info = gpus.map((gpu): RowFacts => {
      return { labels: ownGpuLabels(gpuLabels(simulation.seed, gpu)), facts: infoOf(gpu) }
    })
    const state = rows(({ model }) => {
      return { facts: { fb_total: model.memoryMiB, fb_reserved: model.reservedMiB }, reasons: SPLIT }
    })
    const profile = rows(() => ({}))
    this.#simulation = simulation
    this.#context = context
    this.readers = gpus.map((gpu) => new GpuReader(simulation, gpu))
    this.#info = new ReportRows(context, nvmlGpuInfoType, {}, info)
    this.#state = new ReportRows(context, nvmlGpuType, NVML_GPU, state)
    this.#profile = new ReportRows(context, nvmlProfileType, NVML_PROFILE, profile)
    this.#pci = new ReportRows(context, pciDeviceType, PCI_DEVICE, gpus.map(gpuRow))
  }

  /** Reads and reports every GPU, in parts. */
  *sample(time: bigint, t: number, intervalS: number): Generator<void, void> {
    if (this.#version !== this.#simulation.version) this.#follow()
    const missed = missedDevice(this.#simulation.seed, this.readers.length, t)
    for (const [index, reader] of this.readers.entries()) {
      yield
      reader.read(t, intervalS)
      yield
      this.#pci.write(index, reader)
      for (const rows of [this.#info, this.#state, this.#profile]) {
        if (reader.isLost) rows.leave(index, LOST)
        else rows.come(index)
      }
      if (reader.isLost) continue
      this.#state.write(index, reader)
      this.#profile.write(index, reader)
      if (index === missed) this.#profile.skip(index)
    }
    yield
    for (const rows of [this.#info, this.#state, this.#profile, this.#pci]) rows.report(time)
    yield
    this.#xids?.sample(time, t)
    this.#mig?.sample(time, this.readers)
  }

  #follow(): void {
    this.#version = this.#simulation.version
    this.#xids = new XidRows(this.#simulation, this.#context)
    this.#mig = new MigRows(this.#simulation, this.#context)
  }
}
