import { join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { type Pair, PairsFile } from '../../disk/pairs-file.ts'

/** What has left a queue. */
export interface CursorPlace {
  /** Every record with a lower ordinal has left. */
  readonly ordinal: number
  /** How many of these have arrived; the others were dropped. */
  readonly out: number
}

/** The cursor of a queue: a file beside its segments. A late cursor sends records again, and loses none. */
export class Cursor {
  readonly #file: PairsFile

  constructor(disk: Disk, folder: string) {
    this.#file = new PairsFile(disk, join(folder, '.cursor'))
  }

  /** The last place that was written; undefined if there is none. */
  async read(): Promise<CursorPlace | undefined> {
    const places = (await this.#file.read()).map(([ordinal, out]) => ({ ordinal: Number(ordinal), out: Number(out) }))
    return places.findLast(({ ordinal, out }) => Number.isSafeInteger(ordinal) && out <= ordinal)
  }

  async write({ ordinal, out }: CursorPlace): Promise<void> {
    const pair: Pair = [BigInt(ordinal), BigInt(out)]
    await this.#file.add([pair], () => [pair])
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
