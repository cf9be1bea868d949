import { messageOf } from '../errors.ts'
import type { Timers } from '../internal/timers.ts'
import type { Batch } from '../schema/batch.ts'
import type { DeadLetter, DeadLetters } from './dead-letters.ts'
import type { DropReason, Ledger } from './ledger.ts'
import type { DeliveryQueue } from './queue.ts'
import { refusalsOf } from './refused-records.ts'
import { type Request, type RequestPiece, recordsIn } from './request.ts'
import type { Sender, Verdict } from './sender.ts'

type PartialVerdict = Extract<Verdict, { outcome: 'partial' }>

/** Options of {@link Settlement}. */
export interface SettlementParts<P> {
  readonly queue: DeliveryQueue
  readonly ledger: Ledger
  readonly letters: DeadLetters<P>
  readonly sender: Sender<P>
  readonly encode: (batches: readonly Batch[]) => P | undefined
  readonly timers: Timers
  /** Called when records have left the queue. */
  readonly onRoom: () => void
}

/**
 * After so many consecutive refusals, refused requests are no longer halved until a request arrives. A destination that
 * refuses everything then costs one attempt a request, not one a batch. One bad batch among a million needs half of it.
 */
const HALVINGS_IN_ROW_MAX = 40

/** Sends requests until each of their records has arrived or is dropped, and counts both. */
export class Settlement<P> {
  readonly #parts: SettlementParts<P>
  #refusedInRow = 0

  constructor(parts: SettlementParts<P>) {
    this.#parts = parts
  }

  /**
   * Sends requests, one after the other. A request that the encoder or the peer refuses is halved and tried again,
   * until the faulty batch is alone and its neighbours have arrived. If delivery closes, the remaining pieces are
   * returned.
   */
  async settle(requests: readonly Request[]): Promise<readonly RequestPiece[]> {
    const { sender, timers } = this.#parts
    const waiting = requests.toReversed()
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      const refused = sender.stopped ? 'stopped' : await this.#deliver(part)
      if (refused === 'stopped') return [part, ...waiting].flat()
      if (refused !== undefined && part.length > 1 && ++this.#refusedInRow <= HALVINGS_IN_ROW_MAX) {
        const half = part.length >> 1
        waiting.push(part.slice(half), part.slice(0, half))
      } else if (refused !== undefined) {
        this.drop(part, refused.cause, refused.reason)
        this.#parts.letters.put({ ...refused, batches: part.map(({ batch }) => batch) })
      }
      // A transport that answers at once must not block the event loop.
      await new Promise<void>((resolve) => timers.after(0, resolve))
    }
    return []
  }

  /** Drops pieces. Counts first: a caller that waits for the queue must find the records counted. */
  drop(part: readonly RequestPiece[], reason: DropReason, words = ''): void {
    this.#parts.ledger.drop(reason, recordsIn(part), words)
    this.#leave(part, () => 0)
  }

  /** Encodes and sends a part, and settles it. Returns the refusal or `stopped` if the part is not settled. */
  async #deliver(part: Request): Promise<Omit<DeadLetter<P>, 'batches'> | 'stopped' | undefined> {
    const { ledger, encode, sender } = this.#parts
    let payload: P | undefined
    try {
      payload = encode(part.map(({ batch }) => batch))
    } catch (error) {
      ledger.fail(error)
      return { cause: 'encode_failed', reason: messageOf(error) }
    }
    if (payload === undefined) {
      this.drop(part, 'not_encoded')
      return undefined
    }
    const expiresMs = part[0]?.entry.expiresMs
    const verdict = await sender.deliver(payload, expiresMs)
    switch (verdict.outcome) {
      case 'stopped':
        return 'stopped'
      case 'reject':
        return { cause: 'rejected', reason: verdict.reason, payload }
      case 'expired':
        this.drop(part, expiresMs === undefined ? 'retry_limit' : 'queue_expired', verdict.reason)
        return undefined
      case 'partial':
        this.#settlePartly(part, verdict)
        return undefined
      case 'ok':
        this.#arrived(recordsIn(part))
        this.#leave(part, ({ batch }) => batch.count)
        return undefined
    }
  }

  /** The peer has accepted all but some records. */
  #settlePartly(part: Request, { refused, unknown }: PartialVerdict): void {
    const { ledger, letters } = this.#parts
    const refusals = refusalsOf(
      part.map(({ batch }) => batch),
      refused,
    )
    const arrived = part.map(({ batch }) => batch.count)
    for (const { reason, pieces } of refusals) {
      let records = 0
      for (const { index, batch } of pieces) {
        records += batch.count
        arrived[index] = (arrived[index] ?? 0) - batch.count
      }
      ledger.fail(reason)
      ledger.drop('rejected', records, reason)
      letters.put({ cause: 'rejected', reason, batches: pieces.map(({ batch }) => batch) })
    }
    if (unknown !== undefined) {
      const records = takeFrom(arrived, unknown.records)
      ledger.fail(unknown.reason)
      ledger.drop('rejected', records, unknown.reason)
    }
    const arrivedRecords = arrived.reduce((sum, records) => sum + records, 0)
    if (arrivedRecords > 0) this.#arrived(arrivedRecords)
    this.#leave(part, (_, index) => arrived[index] ?? 0)
  }

  #arrived(records: number): void {
    this.#refusedInRow = 0
    this.#parts.ledger.arrived(records)
  }

  #leave(part: readonly RequestPiece[], arrivedIn: (piece: RequestPiece, index: number) => number): void {
    const { queue, onRoom } = this.#parts
    for (const [index, piece] of part.entries()) queue.leave(piece.entry, piece.batch.count, arrivedIn(piece, index))
    onRoom()
  }
}

/** Takes away so many of all, from the first on. Returns how many there were. */
function takeFrom(counts: number[], wanted: number): number {
  let left = wanted
  for (const [index, count] of counts.entries()) {
    const taken = Math.min(count, left)
    counts[index] = count - taken
    left -= taken
  }
  return wanted - left
}
