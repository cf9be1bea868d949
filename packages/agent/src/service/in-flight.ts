import type { Client } from './client.ts'
import type { ServiceConfig } from './config.ts'

/** What all clients together may have beyond the limit of all, so that each of them always gets on. */
const SHARES_RATIO = 1 / 4

/**
 * Bounds what clients may have with the sinks: whoever has too much is not read until they are done with some of it.
 */
export class InFlight {
  /** Of all clients. Unit: bytes. */
  bytes = 0
  readonly #clientBytes: number
  readonly #totalBytes: number
  readonly #shareBytes: number
  #waiting: (() => void)[] = []
  #isOpen = true

  /** @param queueBytes What the durable sinks queue at most; clients may fill half of it. Unit: bytes. */
  constructor({ clients, client_bytes, total_bytes }: ServiceConfig, queueBytes: number) {
    this.#clientBytes = client_bytes
    this.#totalBytes = Math.min(total_bytes, queueBytes / 2)
    this.#shareBytes = (this.#totalBytes * SHARES_RATIO) / clients
  }

  take(bytes: number): void {
    this.bytes += bytes
  }

  /** The sinks are done with some of it. */
  release(bytes: number): void {
    this.bytes -= bytes
    this.wake()
  }

  /**
   * Resolves when a client may hand in more; undefined if that is now. `heldBytes` is what is kept for it beside its
   * records. Also when `isLeft` says that it waits no longer.
   */
  room(client: Client, heldBytes: number, isLeft: () => boolean): Promise<void> | undefined {
    const isFull = () => this.#isOpen && this.#isFullFor(client, heldBytes) && !isLeft()
    return isFull() ? this.#wait(isFull) : undefined
  }

  #isFullFor({ inFlightBytes }: Client, heldBytes: number): boolean {
    if (inFlightBytes + heldBytes > this.#clientBytes) return true
    return this.bytes > this.#totalBytes && inFlightBytes > this.#shareBytes
  }

  async #wait(isFull: () => boolean): Promise<void> {
    while (isFull()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Lets everybody look again. */
  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Nobody waits any more. */
  close(): void {
    this.#isOpen = false
    this.wake()
  }
}
