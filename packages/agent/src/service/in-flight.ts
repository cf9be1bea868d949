import type { Client } from './client.ts'
import type { ServiceConfig } from './config.ts'

/** Allowance above the common limit, so that every client makes progress. Unit: bytes. */
const SHARES_RATIO = 1 / 4

/** Limits the unacknowledged pages of clients: a client over its limit is not read until some are acknowledged. */
export class InFlight {
  /** Of all clients. Unit: bytes. */
  bytes = 0
  readonly #clientBytes: number
  readonly #totalBytes: number
  readonly #shareBytes: number
  #waiting: (() => void)[] = []
  #isOpen = true

  /** @param queueBytes Queue limit of the durable sinks; clients may fill half of it. Unit: bytes. */
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
