import { nvmlMigType } from '../../nvml/type.ts'
import type { SourceContext } from '../../source.ts'
import type { GpuPlace } from '../classes/node-class.ts'
import type { GpuEffect } from '../effects.ts'
import { loadOf } from '../model/gpu-segment.ts'
import { GPU_READ } from '../observe/readings.ts'
import type { Simulation } from '../simulation.ts'
import { fraction, whole } from './column.ts'
import { gpuLabels } from './gpu-facts.ts'
import { Rows } from './rows.ts'

type Layout = NonNullable<GpuEffect['mig']>

/** Numbers of an instance, in the order of the columns. */
const COLUMNS = {
  gr_engine_active: fraction(0),
  sm_active: fraction(1),
  sm_occupancy: fraction(2),
  pipe_tensor_active: fraction(3),
  dram_active: fraction(4),
  fb_used: whole(5),
  fb_free: whole(6),
}

/** An instance that is there at some time: the profile at a place of a GPU. */
interface MigInstance {
  readonly gpu: GpuPlace
  readonly place: number
  readonly profile: string
}

/** Records of MIG instances. */
export class MigRows {
  readonly #rows: Rows
  readonly #of: readonly MigInstance[]
  readonly #one = new Float64Array(7)

  constructor(simulation: Simulation, context: SourceContext) {
    const { node, seed } = simulation
    this.#of = node.gpus.flatMap((gpu) => instancesOf(simulation, gpu))
    const facts = this.#of.map(({ gpu, place, profile }) => ({
      labels: { ...gpuLabels(seed, gpu), GPU_I_ID: place + 1, GPU_I_PROFILE: profile },
      isThere: false,
    }))
    this.#rows = new Rows(context, nvmlMigType, COLUMNS, facts)
  }

  /** Reports the instances that there are, given how each GPU is split and what was read from it, by {@link GPU_READ}. */
  sample(time: bigint, layouts: readonly (Layout | undefined)[], numbers: readonly Float64Array[]): void {
    this.#of.forEach(({ gpu, place, profile }, row) => {
      const layout = layouts[gpu.index]
      const instance = layout?.[place]
      if (layout === undefined || instance?.profile !== profile) {
        this.#rows.leave(row, 'the GPU is not split that way any more')
        return
      }
      this.#rows.come(row)
      this.#write(numbers[gpu.index] as Float64Array, instance, loadOf({ mig: layout }))
      this.#rows.write(row, this.#one)
    })
    this.#rows.report(time)
  }

  /** What an instance does, against its own slice. */
  #write(numbers: Float64Array, { profile, load }: Layout[number], share: number): void {
    const one = this.#one
    const of = (number: number) => (share === 0 ? 0 : Math.min(1, ((numbers[number] as number) / share) * load))
    one[0] = of(GPU_READ.engine)
    one[1] = of(GPU_READ.sm)
    one[2] = of(GPU_READ.occupancy)
    one[3] = of(GPU_READ.tensor)
    one[4] = of(GPU_READ.dram)
    const memoryMiB = Number(/\.(\d+)gb$/.exec(profile)?.[1] ?? 10) * 1000
    one[5] = Math.round(memoryMiB * 0.85 * load)
    one[6] = memoryMiB - (one[5] as number)
  }
}

/** Every instance that a GPU has at some time. */
function instancesOf({ effects }: Simulation, gpu: GpuPlace): MigInstance[] {
  const found = new Map<string, MigInstance>()
  const spans = effects.flatMap(({ spans }) => spans)
  for (const { mig } of [gpu, ...spans.flatMap(({ gpus }) => [gpus?.all ?? {}, gpus?.[gpu.index] ?? {}])]) {
    mig?.forEach(({ profile }, place) => {
      found.set(`${place} ${profile}`, { gpu, place, profile })
    })
  }
  return [...found.values()]
}
