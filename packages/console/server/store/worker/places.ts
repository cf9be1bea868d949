import { type Holder, Quota } from '@sonde/sdk/internal'

/** Holds the names that nobody reported since the file was opened. They count as those of a client. */
export const EARLIER = 0n

/** Text of a name that one place has room for; a longer one takes more places. Unit: bytes. */
const PLACE_TEXT_BYTES = 256
/**
 * What a place takes in the file: the text lies in its table and in an index, whose pages are not full. Half of it is
 * what names of any but the most awkward length take at most. Unit: bytes.
 */
export const PLACE_FILE_BYTES = 768

/** How many places a text takes. */
export function placesOf(text: string, placeTextBytes = PLACE_TEXT_BYTES): number {
  return 1 + Math.floor(Buffer.byteLength(text) / placeTextBytes)
}

/** The places for names of one kind, and which client has how many of them. */
export class Places {
  readonly #quota: Quota
  readonly #placeTextBytes: number
  readonly #holders = new Map<number, Holder>()
  #textBytes = 0

  constructor(limitCount: number, placeTextBytes = PLACE_TEXT_BYTES) {
    this.#quota = new Quota(limitCount)
    this.#placeTextBytes = placeTextBytes
  }

  /** What the names take in the file, about. Unit: bytes. */
  get fileBytes(): number {
    return 2 * (this.#textBytes + 20 * this.#holders.size)
  }

  /** Whether a client, or undefined for this process, may bring another name. */
  hasRoom(holder: Holder, text: string): boolean {
    return this.#quota.roomFor(holder) >= placesOf(text, this.#placeTextBytes)
  }

  /** A name is stored. */
  take(id: number, holder: Holder, text: string): void {
    this.#holders.set(id, holder)
    this.#add(holder, text, 1)
  }

  /** A name is reported: if that is for the first time since the file was opened, it is known now who holds it. */
  claim(id: number, holder: Holder, text: () => string): void {
    if (this.#holders.get(id) !== EARLIER) return
    const known = text()
    this.leave(id, known)
    this.take(id, holder, known)
  }

  /** A name left the file. */
  leave(id: number, text: string): void {
    if (!this.#holders.has(id)) return
    this.#add(this.#holders.get(id), text, -1)
    this.#holders.delete(id)
  }

  #add(holder: Holder, text: string, sign: 1 | -1): void {
    this.#quota.add(holder, sign * placesOf(text, this.#placeTextBytes))
    this.#textBytes += sign * Buffer.byteLength(text)
  }
}
