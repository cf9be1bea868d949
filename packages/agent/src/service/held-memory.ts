import { SondeError } from '@sonde/sdk'
import type { ServiceConfig } from './config.ts'

/**
 * The part of `service.total_bytes` for types, sources and symbols of all clients: half in guaranteed shares, half for
 * clients that need more.
 */
const HELD_RATIO = 1 / 2

/**
 * Memory of the announcements of all clients. Without a common limit, many clients within their own limits could
 * exhaust the memory of the process.
 */
export class HeldMemory {
  readonly #shareBytes: number
  readonly #poolBytes: number
  #pooledBytes = 0

  constructor({ clients, total_bytes }: Pick<ServiceConfig, 'clients' | 'total_bytes'>) {
    this.#poolBytes = (total_bytes * HELD_RATIO) / 2
    this.#shareBytes = this.#poolBytes / clients
  }

  /**
   * A client that held `beforeBytes` holds `afterBytes` from now on.
   *
   * @throws SondeError `IPC_LIMIT` if there is no room: nothing changed then.
   */
  change(beforeBytes: number, afterBytes: number): void {
    const more = this.#beyondShare(afterBytes) - this.#beyondShare(beforeBytes)
    if (more > 0 && this.#pooledBytes + more > this.#poolBytes) {
      const found = 'types, sources and symbols of all clients take as much memory as they may'
      throw new SondeError('IPC_LIMIT', `${found}; use fewer, or raise service.total_bytes`)
    }
    this.#pooledBytes += more
  }

  #beyondShare(bytes: number): number {
    return Math.max(0, bytes - this.#shareBytes)
  }
}
