import { Quota, type QuotaHolder } from '@sonde/sdk/internal'

/** Holder of the names that were not reported since the file was opened. They count as the names of a client. */
export const EARLIER = 0n

/** Length of a name that fits one place; a longer name takes more places. Unit: bytes. */
const PLACE_TEXT_BYTES = 256
/**
 * Size of a place in the file: the text is in its table and in an index, whose pages are not full. Half of it is the
 * most that names of nearly any length take. Unit: bytes.
 */
export const PLACE_FILE_BYTES = 768

/** Number of places that a text takes. */
export function textPlaces(text: string, placeTextBytes = PLACE_TEXT_BYTES): number {
  return 1 + Math.floor(Buffer.byteLength(text) / placeTextBytes)
}

/** The places for names of one kind, and the number that each client holds. */
export class Places {
  readonly #quota: Quota
  readonly #placeTextBytes: number
  readonly #holders = new Map<number, QuotaHolder>()
  #textBytes = 0

  constructor(limitCount: number, placeTextBytes = PLACE_TEXT_BYTES) {
    this.#quota = new Quota(limitCount)
    this.#placeTextBytes = placeTextBytes
  }

  /** Approximate size of the names in the file. Unit: bytes. */
  get fileBytes(): number {
    return 2 * (this.#textBytes + 20 * this.#holders.size)
  }

  /** Whether a client, or undefined for this process, may add another name. */
  hasRoom(holder: QuotaHolder, text: string): boolean {
    return this.#quota.roomFor(holder) >= textPlaces(text, this.#placeTextBytes)
  }

  /** A name is stored. */
  take(id: number, holder: QuotaHolder, text: string): void {
    this.#holders.set(id, holder)
    this.#add(holder, text, 1)
  }

  /** A name is reported. The first report since the file was opened shows its holder. */
  claim(id: number, holder: QuotaHolder, text: () => string): void {
    if (this.#holders.get(id) !== EARLIER) return
    const known = text()
    this.leave(id, known)
    this.take(id, holder, known)
  }

  /** A name was deleted from the file. */
  leave(id: number, text: string): void {
    if (!this.#holders.has(id)) return
    this.#add(this.#holders.get(id), text, -1)
    this.#holders.delete(id)
  }

  #add(holder: QuotaHolder, text: string, sign: 1 | -1): void {
    this.#quota.add(holder, sign * textPlaces(text, this.#placeTextBytes))
    this.#textBytes += sign * Buffer.byteLength(text)
  }
}
