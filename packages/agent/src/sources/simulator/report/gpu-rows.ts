import { nvmlGpuInfoType, nvmlGpuType, nvmlMigType, nvmlProfileType, nvmlXidType } from '../../nvml/type.ts'
import { pciDeviceType } from '../../pci/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { GpuReader, jobsEnded } from '../observe/gpu-reader.ts'
import { missedDevice } from '../observe/missed.ts'
import { GPU_READ, GPU_READ_COUNT } from '../observe/readings.ts'
import type { Simulation } from '../simulation.ts'
import { fraction, whole } from './column.ts'
import { GPU_COLUMNS, PROFILE_COLUMNS } from './gpu-columns.ts'
import { infoOf, pciFacts, uuidOf } from './gpu-facts.ts'
import { PCI_COLUMNS } from './pci-facts.ts'
import { type RowFacts, Rows } from './rows.ts'

const LOST = 'the GPU has fallen off the bus'

/** Numbers of a MIG instance, in the order of its columns. */
const MIG_COLUMNS = {
  gr_engine_active: fraction(0),
  sm_active: fraction(1),
  sm_occupancy: fraction(2),
  pipe_tensor_active: fraction(3),
  dram_active: fraction(4),
  fb_used: whole(5),
  fb_free: whole(6),
}

/** Records of all GPUs. */
export class GpuRows {
  /** What was last read, by {@link GPU_READ}. */
  readonly numbers: readonly Float64Array[]
  readonly readers: readonly GpuReader[]
  readonly #simulation: Simulation
  readonly #context: SourceContext
  readonly #info: Rows
  readonly #state: Rows
  readonly #profile: Rows
  readonly #pci: Rows
  #xid: Rows | undefined
  #xids: readonly { readonly gpu: GpuPlace; readonly xid: number }[] = []
  #mig: Rows | undefined
  #instances: readonly MigInstance[] = []
  #version = -1
  readonly #one = new Float64Array(7)

  constructor(simulation: Simulation, context: SourceContext) {
    const { gpus } = simulation.node
    this.#simulation = simulation
    this.#context = context
    this.numbers = gpus.map(() => new Float64Array(GPU_READ_COUNT))
    this.readers = gpus.map((gpu) => new GpuReader(simulation, gpu))
    const rows = (facts: (gpu: GpuPlace) => Omit<RowFacts, 'labels'>) =>
      gpus.map((gpu): RowFacts => ({ labels: this.#labels(gpu), ...facts(gpu) }))
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

  /** Reads every GPU and reports it. */
  sample(time: bigint, t: number, intervalS: number): void {
    if (this.#version !== this.#simulation.version) this.#follow()
    const missed = missedDevice(this.#simulation.seed, this.numbers.length, t)
    this.readers.forEach((reader, index) => {
      const numbers = this.numbers[index] as Float64Array
      const isThere = reader.read(numbers, t, intervalS)
      this.#pci.write(index, reader.pci.numbers)
      for (const rows of [this.#info, this.#state, this.#profile]) {
        if (isThere) rows.come(index)
        else rows.leave(index, LOST)
      }
      if (!isThere) return
      this.#state.write(index, numbers)
      this.#profile.write(index, numbers)
      if (index === missed) this.#profile.skip(index)
    })
    this.#writeXids(t)
    this.#writeMig(t)
    for (const rows of [this.#info, this.#state, this.#profile, this.#pci, this.#xid, this.#mig]) rows?.report(time)
  }

  #labels(gpu: GpuPlace): { gpu: string; UUID: string } {
    return { gpu: String(gpu.index), UUID: uuidOf(this.#simulation.seed, gpu) }
  }

  /** Makes room for what the effects can bring. */
  #follow(): void {
    const { node, events, segments } = this.#simulation
    this.#version = this.#simulation.version
    this.#xids = node.gpus.flatMap((gpu) => {
      return [...new Set([45, ...events.xidsOf(gpu.index)])].map((xid) => ({ gpu, xid }))
    })
    this.#xid = new Rows(
      this.#context,
      nvmlXidType,
      { events_total: whole(0) },
      this.#xids.map(({ gpu, xid }) => ({ labels: { ...this.#labels(gpu), xid } })),
    )
    this.#instances = node.gpus.flatMap((gpu) => {
      const layouts = segments.flatMap((segment) => segment.gpus[gpu.index]?.effect.mig ?? [])
      const most = Math.max(0, ...segments.map((segment) => segment.gpus[gpu.index]?.effect.mig?.length ?? 0))
      return Array.from({ length: most }, (_, place) => place).flatMap((place) => {
        const profiles = new Set(segments.map((segment) => segment.gpus[gpu.index]?.effect.mig?.[place]?.profile))
        return [...profiles]
          .filter((profile) => profile !== undefined && layouts.length > 0)
          .map((profile) => ({ gpu, place, profile }) as MigInstance)
      })
    })
    this.#mig = new Rows(
      this.#context,
      nvmlMigType,
      MIG_COLUMNS,
      this.#instances.map(({ gpu, place, profile }) => ({
        labels: { ...this.#labels(gpu), GPU_I_ID: place + 1, GPU_I_PROFILE: profile },
      })),
    )
  }

  #writeXids(t: number): void {
    const { events } = this.#simulation
    this.#xids.forEach(({ gpu, xid }, index) => {
      const count = events.ofGpu(gpu.index, 'xid', t, xid) + (xid === 45 ? jobsEnded(gpu) : 0)
      this.#one[0] = count
      this.#xid?.write(index, this.#one)
      if (count === 0) this.#xid?.skip(index)
    })
  }

  #writeMig(t: number): void {
    const rows = this.#mig
    if (rows === undefined) return
    this.#instances.forEach(({ gpu, place, profile }, index) => {
      const layout = this.readers[gpu.index]?.migAt(t)
      const instance = layout?.[place]
      if (layout === undefined || instance?.profile !== profile) {
        rows.leave(index, 'the GPU is not split that way any more')
        return
      }
      rows.come(index)
      const share = layout.reduce((sum, one) => sum + (one.load * Number.parseInt(one.profile, 10)) / 7, 0)
      writeInstance(this.#one, this.numbers[gpu.index] as Float64Array, instance, share)
      rows.write(index, this.#one)
    })
  }
}

interface MigInstance {
  readonly gpu: GpuPlace
  readonly place: number
  readonly profile: string
}

/** What an instance does, against its own slice. */
function writeInstance(
  out: Float64Array,
  numbers: Float64Array,
  { profile, load }: { readonly profile: string; readonly load: number },
  share: number,
): void {
  const of = (number: number) => (share === 0 ? 0 : Math.min(1, ((numbers[number] as number) / share) * load))
  out[0] = of(GPU_READ.engine)
  out[1] = of(GPU_READ.sm)
  out[2] = of(GPU_READ.occupancy)
  out[3] = of(GPU_READ.tensor)
  out[4] = of(GPU_READ.dram)
  const memoryMiB = Number(/\.(\d+)gb$/.exec(profile)?.[1] ?? 10) * 1000
  out[5] = Math.round(memoryMiB * 0.85 * load)
  out[6] = memoryMiB - (out[5] as number)
}
