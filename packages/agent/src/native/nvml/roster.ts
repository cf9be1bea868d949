import { within } from '@sonde/sdk/internal'
import { NvmlFailure } from './failure.ts'
import { GpuHandle } from './gpu.ts'
import type { NvmlLibrary } from './library.ts'

/** GPUs of one node at most. */
const GPUS_MAX = 256

/** What a driver lists. */
export interface GpuList {
  /** GPUs that told their names, by index. */
  readonly gpus: readonly GpuHandle[]
  /** Indexes of GPUs that refused, with the reason. */
  readonly refused: ReadonlyMap<number, NvmlFailure>
  /** Indexes of GPUs that have not answered yet. */
  readonly silent: readonly number[]
}

/** Which GPUs a driver lists. A GPU that does not come back with its name keeps no other from being listed. */
export class GpuRoster {
  readonly #library: NvmlLibrary
  readonly #limitMs: number
  /** Indexes with an open call. Each blocks a thread, so that no index has two calls at the same time. */
  readonly #asked = new Set<number>()

  /** @param limitMs A GPU that has not told its names by then is listed later. Unit: milliseconds. */
  constructor(library: NvmlLibrary, limitMs: number) {
    this.#library = library
    this.#limitMs = limitMs
  }

  /** @param known GPUs that are not asked again: a call of them may hang. */
  async list(known: readonly GpuHandle[]): Promise<GpuList | NvmlFailure> {
    const count = await GpuHandle.count(this.#library)
    if (count instanceof NvmlFailure) return count
    const indexes = Array.from({ length: Math.min(count, GPUS_MAX) }, (_, index) => index)
    const told = new Map<number, GpuHandle | NvmlFailure>()
    const asked = indexes.filter((index) => !this.#asked.has(index))
    const answers = asked.map(async (index) => told.set(index, await this.#ask(index, known)))
    await within(this.#limitMs, Promise.all(answers))
    return {
      gpus: indexes.flatMap((index) => {
        const gpu = told.get(index)
        return gpu instanceof GpuHandle ? gpu : []
      }),
      refused: new Map([...told].filter((one): one is [number, NvmlFailure] => one[1] instanceof NvmlFailure)),
      silent: indexes.filter((index) => !told.has(index)),
    }
  }

  async #ask(index: number, known: readonly GpuHandle[]): Promise<GpuHandle | NvmlFailure> {
    this.#asked.add(index)
    try {
      return await GpuHandle.at(this.#library, index, known)
    } finally {
      this.#asked.delete(index)
    }
  }
}
