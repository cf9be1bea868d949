import type { ServiceConfig } from './config.ts'

/**
 * What types, sources and symbols of all clients may take of `service.total_bytes`: half as shares that no other client
 * can take, half for whoever needs more.
 */
const HELD_RATIO = 1 / 2

/**
 * Memory of what all clients announced. Without a limit for all together, clients that keep to their own limit would
 * end the process.
 */
export class HeldMemory {
  readonly #shareBytes: number
  readonly #poolBytes: number
  #pooledBytes = 0

  constructor({ clients, total_bytes }: Pick<ServiceConfig, 'clients' | 'total_bytes'>) {
    this.#poolBytes = (total_bytes * HELD_RATIO) / 2
    this.#shareBytes = this.#poolBytes / clients
  }

  /** A client that held `beforeBytes` is to hold `afterBytes`. False where there is no room: nothing changed then. */
  change(beforeBytes: number, afterBytes: number): boolean {
    const more = this.#beyondShare(afterBytes) - this.#beyondShare(beforeBytes)
    if (more > 0 && this.#pooledBytes + more > this.#poolBytes) return false
    this.#pooledBytes += more
    return true
  }

  #beyondShare(bytes: number): number {
    return Math.max(0, bytes - this.#shareBytes)
  }
}
