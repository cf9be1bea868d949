import { createHash } from 'node:crypto'
import { isRunning, ownPid, readNote, removeNote, writeNote } from '../doca/note-file.ts'

/** Who started a counter: this agent, a Sonde that has ended, or a Sonde that runs. */
export type CounterOwner = 'self' | 'ended' | 'other'

/** Notes about the counters that processes of Sonde started on the accelerator of one device. */
export class StartNotes {
  readonly #prefix: string

  /**
   * @param card Address of the card.
   * @param library Path of the library: a card of another library may be another card.
   */
  constructor(card: string, library: string) {
    this.#prefix = `dpa-${createHash('sha256').update(`${card}\n${library}`).digest('hex').slice(0, 16)}`
  }

  /** Returns who started the counter of a process; undefined if no trusted note says so. */
  ownerOf(process: number): CounterOwner | undefined {
    const note = readNote(this.#nameOf(process))
    if (note === undefined || !note.isTrusted) return undefined
    if (note.pid === ownPid()) return isRunning(note) ? 'self' : 'ended'
    return isRunning(note) ? 'other' : 'ended'
  }

  write(process: number): void {
    writeNote(this.#nameOf(process), [])
  }

  remove(process: number): void {
    if (this.ownerOf(process) === 'self') removeNote(this.#nameOf(process))
  }

  #nameOf(process: number): string {
    return `${this.#prefix}-${process}`
  }
}
