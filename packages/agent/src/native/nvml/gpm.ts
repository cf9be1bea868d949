import type { NvmlFailure } from './failure.ts'
import type { GpuHandle } from './gpu.ts'
import { GPM_GET, GPM_METRIC, GPM_SUPPORT } from './layout.ts'

/** Activity of a GPU between two samples, as Hopper and later measure it without anybody's permission. */
export class GpmSampler {
  readonly #gpu: GpuHandle
  readonly #ids: readonly number[]
  /** Id of the MIG instance; undefined for the whole GPU. */
  readonly #instance: number | undefined
  readonly #memory: Buffer
  #before: bigint
  #after: bigint
  #hasBefore = false

  private constructor(
    gpu: GpuHandle,
    ids: readonly number[],
    samples: readonly [bigint, bigint],
    instance: number | undefined,
  ) {
    this.#gpu = gpu
    this.#ids = ids
    this.#instance = instance
    this.#memory = Buffer.alloc(GPM_GET.metrics + ids.length * GPM_METRIC.bytes)
    ;[this.#before, this.#after] = samples
  }

  /**
   * Undefined if the GPU cannot do it; a failure says why it might have been.
   *
   * @param instance Id of a MIG instance. Default: the whole GPU.
   */
  static open(gpu: GpuHandle, ids: readonly number[], instance?: number): GpmSampler | NvmlFailure | undefined {
    const support = gpu.structure('nvmlGpmQueryDeviceSupport', GPM_SUPPORT.version)
    if (!Buffer.isBuffer(support)) return support
    if (support.readUInt32LE(GPM_SUPPORT.isSupported) === 0) return undefined
    const out = Buffer.alloc(8)
    const samples: bigint[] = []
    for (const _ of [0, 1]) {
      const failure = gpu.library.call(gpu.device, 'nvmlGpmSampleAlloc', out)
      if (failure !== undefined) {
        for (const sample of samples) gpu.library.answer('nvmlGpmSampleFree', sample)
        return failure
      }
      samples.push(out.readBigUInt64LE())
    }
    return new GpmSampler(gpu, ids, [samples[0] ?? 0n, samples[1] ?? 0n], instance)
  }

  /**
   * Takes a sample. The means since the one before, of each id, NaN if there is none; undefined at the first.
   */
  sample(): number[] | NvmlFailure | undefined {
    const { library, device, handle } = this.#gpu
    const taken =
      this.#instance === undefined
        ? library.call(device, 'nvmlGpmSampleGet', handle, this.#after)
        : library.call(device, 'nvmlGpmMigSampleGet', handle, this.#instance, this.#after)
    if (taken !== undefined) return taken
    const means = this.#hasBefore ? this.#means() : undefined
    ;[this.#before, this.#after] = [this.#after, this.#before]
    this.#hasBefore = true
    return means
  }

  /** Gives the samples back. May be called twice. */
  close(): void {
    const { library } = this.#gpu
    for (const sample of [this.#before, this.#after]) if (sample !== 0n) library.answer('nvmlGpmSampleFree', sample)
    this.#before = 0n
    this.#after = 0n
  }

  #means(): number[] | NvmlFailure {
    const memory = this.#memory.fill(0)
    memory.writeUInt32LE(GPM_GET.version)
    memory.writeUInt32LE(this.#ids.length, GPM_GET.count)
    memory.writeBigUInt64LE(this.#before, GPM_GET.before)
    memory.writeBigUInt64LE(this.#after, GPM_GET.after)
    const metricOffset = (metric: number) => GPM_GET.metrics + metric * GPM_METRIC.bytes
    for (const [metric, id] of this.#ids.entries()) memory.writeUInt32LE(id, metricOffset(metric))
    const failure = this.#gpu.library.call(this.#gpu.device, 'nvmlGpmMetricsGet', memory)
    if (failure !== undefined) return failure
    return this.#ids.map((_, metric) => {
      const isKnown = memory.readInt32LE(metricOffset(metric) + GPM_METRIC.result) === 0
      return isKnown ? memory.readDoubleLE(metricOffset(metric) + GPM_METRIC.value) : Number.NaN
    })
  }
}
