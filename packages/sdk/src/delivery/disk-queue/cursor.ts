import { join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { PairsFile } from '../../disk/pairs-file.ts'

/** What has left a queue. */
export interface CursorPlace {
  /** Every record with a lower ordinal has left. */
  readonly ordinal: number
  /** How many of these have arrived; the others were dropped. */
  readonly out: number
}

/**
 * The cursor of a queue: a file beside its segments. A late cursor sends records again, and loses none. It is written
 * in place: a disk that the queue has filled gets room only when a new cursor allows old segments to be removed.
 */
export class Cursor {
  readonly #file: PairsFile

  constructor(disk: Disk, folder: string) {
    this.#file = new PairsFile(disk, join(folder, '.cursor'))
  }

  /** The furthest place that was written; undefined if there is none. */
  async read(): Promise<CursorPlace | undefined> {
    const places = (await this.#file.read()).map(([ordinal, out]) => ({ ordinal: Number(ordinal), out: Number(out) }))
    const sound = places.filter(({ ordinal, out }) => Number.isSafeInteger(ordinal) && out <= ordinal)
    return sound.sort((a, b) => b.ordinal - a.ordinal)[0]
  }

  async write({ ordinal, out }: CursorPlace): Promise<void> {
    await this.#file.put([BigInt(ordinal), BigInt(out)])
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
