import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isRunning, ownPid, readNote, removeNote, writeNote } from '../doca/note-file.ts'

/** A process of Sonde that holds the diagnostic counters of a card. */
export interface Holder {
  readonly pid: number
  /** Unit: milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Whether it is this process. */
  readonly isOwn: boolean
  /** Whether it belongs to the same user or to root. Only then its request is followed. */
  readonly isTrusted: boolean
  /** Whether it asked the previous holder to release the counters. */
  readonly isAsking: boolean
}

/**
 * The note that a process of Sonde leaves while it holds the counters of a card. The library reports that they are
 * held, but not by which process. A process that asks for the counters replaces the note with its own. Without notes
 * everything still works, but errors name no process. A note holds only numbers that the kernel can confirm.
 */
export class HolderNote {
  readonly #name: string

  /**
   * @param card Address of the card.
   * @param library Path of the library: a card of another library may be another card.
   */
  constructor(card: string, library: string) {
    this.#name = `diag-${createHash('sha256').update(`${card}\n${library}`).digest('hex').slice(0, 16)}`
  }

  /** Returns the running process that holds the counters; undefined if no note names such a process. */
  read(): Holder | undefined {
    const note = readNote(this.#name)
    if (note === undefined || !isRunning(note)) return undefined
    const [sinceMs = 0, asking] = note.numbers
    return { pid: note.pid, sinceMs, isOwn: note.pid === ownPid(), isTrusted: note.isTrusted, isAsking: asking === 1 }
  }

  /** Notes that this process holds the counters. */
  hold(): void {
    writeNote(this.#name, [Date.now(), 0])
  }

  /** Notes that this process wants the counters. */
  ask(): void {
    writeNote(this.#name, [Date.now(), 1])
  }

  remove(): void {
    if (this.read()?.isOwn === true) removeNote(this.#name)
  }
}

/** Returns the name of a program as a person starts it, such as `sonde traceback`; `Sonde` if it cannot be read. */
export function commandOf(pid: number): string {
  try {
    const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const command = words[words.findIndex((word) => !word.startsWith('-')) + 1] ?? ''
    return /^[a-z]{1,20}$/.test(command) ? `sonde ${command}` : 'Sonde'
  } catch {
    return 'Sonde'
  }
}
