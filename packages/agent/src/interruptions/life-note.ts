import { readFileSync } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'

const MODE = 0o600
const FOLDER_MODE = 0o700
/** The note has this length in every version, so that a write in place leaves nothing of the one before. */
const NOTE_BYTES = 512

const count = v.pipe(v.number(), v.minValue(0))
const noteSchema = v.object({
  /** The process, and when the kernel started it: the number alone is used again. */
  pid: count,
  startTicks: v.string(),
  /** Of the running kernel; another after a restart of the node. */
  bootId: v.string(),
  /** Until when samples were kept. Unit: milliseconds since the Unix epoch. */
  keptMs: count,
  residentBytes: count,
  /** Limit of the container; 0 without a limit. */
  limitBytes: count,
  /** Processes that the kernel ended because memory was full, on the whole node. */
  oomKills: v.nullable(count),
  isStopping: v.boolean(),
})

/** What a running Sonde notes of itself each second, for the next start. */
export type LifeNote = v.InferOutput<typeof noteSchema>

/** Reads the note that an earlier life left; undefined if it stopped, or its note cannot be read. */
export async function readLifeNote(path: string): Promise<LifeNote | undefined> {
  try {
    const parsed = v.safeParse(noteSchema, JSON.parse(await readFile(path, 'utf8')))
    return parsed.success ? parsed.output : undefined
  } catch {
    // There is none, or it is damaged: nothing is known of an earlier life.
    return undefined
  }
}

/** The note of this life. It is written in place, because a new file each second would make the disk work. */
export class LifeNoteFile {
  readonly #path: string
  readonly #file: FileHandle
  #writing: Promise<unknown> = Promise.resolve()
  #isWriting = false

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  static async open(path: string): Promise<LifeNoteFile> {
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
    // A new file: a process that has the old file open cannot read the new notes.
    await rm(path, { force: true })
    return new LifeNoteFile(path, await open(path, 'wx', MODE))
  }

  /** Writes the note. While a disk hangs, later notes are left out. */
  write(note: LifeNote): void {
    if (this.#isWriting) return
    this.#isWriting = true
    const bytes = Buffer.alloc(NOTE_BYTES, ' ')
    bytes.write(JSON.stringify(note))
    this.#writing = this.#file
      .write(bytes, 0, NOTE_BYTES, 0)
      // A disk that is full or broken: the next start knows an earlier time.
      .catch(() => undefined)
      .finally(() => {
        this.#isWriting = false
      })
  }

  /** Removes the note: this life stops as it should. */
  async remove(): Promise<void> {
    await this.#writing
    await this.#file.close()
    await rm(this.#path, { force: true })
  }
}

/** When the kernel started a process, in ticks since its own start; empty if there is no such process. */
export function startTicksOf(pid: number): string {
  return (
    textOf(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[19] ?? ''
  )
}

/** Identity of the running kernel; empty if it cannot be read. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id').trim()
}

/** Processes that the kernel ended because memory was full, those in containers too; null if it does not say. */
export function oomKills(): number | null {
  const found = /^oom_kill (\d+)$/m.exec(textOf('/proc/vmstat'))?.[1]
  return found === undefined ? null : Number(found)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
