import { nvmlMigType } from '../../nvml/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import { loadOf } from '../model/gpu-segment.ts'
import { GPU_QUANTITIES } from '../model/quantities.ts'
import type { GpuReader } from '../observe/gpu-reader.ts'
import type { Simulation } from '../simulation.ts'
import type { Columns } from './column.ts'
import { gpuLabels } from './nvml-gpu-info.ts'
import { ReportRows } from './report-rows.ts'

/** Share of its memory that a fully loaded instance uses. */
const MEMORY_SHARE = 0.85

/** An instance that exists at some time: a profile at a position of a GPU. */
interface MigPlace {
  readonly gpu: GpuPlace
  readonly place: number
  readonly profile: string
}

/** Load of an instance: its share of the GPU's load, relative to its own slice. */
interface MigInstance {
  readonly gpu: GpuReader
  readonly load: number
  readonly memoryMiB: number
}

const NVML_MIG: Columns<typeof nvmlMigType, MigInstance> = {
  gr_engine_active: (instance) => shareOf(instance, GPU_QUANTITIES.engine),
  sm_active: (instance) => shareOf(instance, GPU_QUANTITIES.sm),
  sm_occupancy: (instance) => shareOf(instance, GPU_QUANTITIES.occupancy),
  pipe_tensor_active: (instance) => shareOf(instance, GPU_QUANTITIES.tensor),
  dram_active: (instance) => shareOf(instance, GPU_QUANTITIES.dram),
  pipe_fp64_active: (instance) => shareOf(instance, GPU_QUANTITIES.fp64),
  pipe_fp32_active: (instance) => shareOf(instance, GPU_QUANTITIES.fp32),
  pipe_fp16_active: (instance) => shareOf(instance, GPU_QUANTITIES.fp16),
  fb_total: ({ memoryMiB }) => memoryMiB,
  fb_used: usedMiB,
  fb_free: (instance) => instance.memoryMiB - usedMiB(instance),
  fb_reserved: 0,
}

function shareOf({ gpu, load }: MigInstance, quantity: number): number {
  const ofGpu = loadOf(gpu.segment.effect)
  if (ofGpu === 0) return 0
  return gpu.isLost ? Number.NaN : Math.min(1, (gpu.profile.mean(quantity) / ofGpu) * load)
}

function usedMiB({ memoryMiB, load }: MigInstance): number {
  return Math.round(memoryMiB * MEMORY_SHARE * load)
}

/** Records of MIG instances. */
export class MigRows {
  readonly #rows: ReportRows<MigInstance>
  readonly #of: readonly MigPlace[]

  constructor(simulation: Simulation, context: SourceContext) {
    const { node, seed } = simulation
    this.#of = node.gpus.flatMap((gpu) => placesOf(simulation, gpu))
    const facts = this.#of.map(({ gpu, place, profile }) => ({
      labels: { ...gpuLabels(seed, gpu), GPU_I_ID: place + 1, GPU_I_PROFILE: profile },
      isThere: false,
    }))
    this.#rows = new ReportRows(context, nvmlMigType, NVML_MIG, facts)
  }

  /** Reports the present instances, with the last readings of their GPUs. */
  sample(time: bigint, gpus: readonly GpuReader[]): void {
    this.#of.forEach(({ gpu: { index }, place, profile }, row) => {
      const gpu = gpus[index] as GpuReader
      const instance = gpu.segment.effect.mig?.[place]
      if (instance?.profile !== profile) {
        this.#rows.leave(row, 'the GPU is not split that way any more')
        return
      }
      const memoryMiB = Number(/\.(\d+)gb$/.exec(profile)?.[1] ?? 10) * 1000
      this.#rows.come(row)
      this.#rows.write(row, { gpu, load: instance.load, memoryMiB })
    })
    this.#rows.report(time)
  }
}

/** Every instance that a GPU has at some time. */
function placesOf({ effects }: Simulation, gpu: GpuPlace): MigPlace[] {
  const found = new Map<string, MigPlace>()
  const spans = effects.flatMap(({ spans }) => spans)
  for (const { mig } of [gpu, ...spans.flatMap(({ gpus }) => [gpus?.all ?? {}, gpus?.[gpu.index] ?? {}])]) {
    mig?.forEach(({ profile }, place) => {
      found.set(`${place} ${profile}`, { gpu, place, profile })
    })
  }
  return [...found.values()]
}
