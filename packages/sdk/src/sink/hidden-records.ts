import type { Batch } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import { ClientLosses } from './client-losses.ts'

/** Records of clients that a view does not show, by reason, until the acknowledger of their pages takes them. */
export class HiddenRecords {
  readonly #reasons = new Map<string, ClientLosses>()

  /** Notes records of a batch that are not shown. */
  add(reason: string, records: number, { page, type }: Batch): void {
    // Each schema of a process reports the losses of the process.
    if (page === undefined || type.fingerprint === lossType.fingerprint) return
    const losses = this.#reasons.get(reason) ?? new ClientLosses()
    losses.add(page, records)
    this.#reasons.set(reason, losses)
  }

  /** Takes the records by reason and page, of the pages of a client up to a sequence. */
  take(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>> {
    return new Map(Array.from(this.#reasons, ([reason, losses]) => [reason, losses.take(client, upTo)]))
  }
}
