import { createHash } from 'node:crypto'
import { isRunning, notesLike, ownPid, readNote, removeNote, writeNote } from '../doca/note-file.ts'

/** Who started a counter: this agent, a Sonde that has ended, or a Sonde that runs. */
export type CounterOwner = 'self' | 'ended' | 'other'

/** A counter that a running Sonde started. */
export interface StartedCounter {
  /** Process on the accelerator. */
  readonly process: number
  /** The Sonde. */
  readonly pid: number
}

/** Notes about the counters that processes of Sonde started on the accelerator of one device. */
export class StartNotes {
  readonly #prefix: string

  private constructor(of: string) {
    this.#prefix = `dpa-${createHash('sha256').update(of).digest('hex').slice(0, 16)}`
  }

  /**
   * Returns the notes of a device.
   *
   * @param of Its address on the bus, its name, and the path of the library: a device of another library may be another
   * device.
   */
  static of({ address, device, library }: Readonly<Record<'address' | 'device' | 'library', string>>): StartNotes {
    return new StartNotes(`${address} ${device}\n${library}`)
  }

  /** Returns the counters that a running Sonde started. */
  list(): StartedCounter[] {
    const prefix = `${this.#prefix}-`
    return notesLike(prefix).flatMap((name): StartedCounter[] => {
      const note = readNote(name)
      const process = Number(name.slice(prefix.length))
      // A name with a further part is a note that is being written.
      if (note === undefined || !Number.isSafeInteger(process)) return []
      return note.isTrusted && isRunning(note) ? [{ process, pid: note.pid }] : []
    })
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
