import type { Batch } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import { ClientLosses } from './client-losses.ts'

/** Records of clients that a view does not show, by reason, until whoever acknowledges their pages asks. */
export class HiddenRecords {
  readonly #reasons = new Map<string, ClientLosses>()

  /** Records of a batch are not shown. */
  add(reason: string, records: number, { page, type }: Batch): void {
    // What a process says of its own losses, each of its schemas says.
    if (page === undefined || type.fingerprint === lossType.fingerprint) return
    const losses = this.#reasons.get(reason) ?? new ClientLosses()
    losses.add(page, records)
    this.#reasons.set(reason, losses)
  }

  /** By reason and page, of the pages of a client up to a sequence: once. */
  take(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>> {
    return new Map(Array.from(this.#reasons, ([reason, losses]) => [reason, losses.take(client, upTo)]))
  }
}
