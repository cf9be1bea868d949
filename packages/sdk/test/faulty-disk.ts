import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import fs, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** What a call does: it works, it waits in its thread as a call to a broken disk does, or the system refuses it. */
export type CallFault = 'works' | 'hangs' | NodeJS.ErrnoException

/** The error of a full disk. */
export function noSpace(call: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${call}`), { code: 'ENOSPC', syscall: call })
}

/** Faults of the writes and syncs of files below a folder. The files themselves are real. */
export class FaultyDisk {
  write: CallFault = 'works'
  sync: CallFault = 'works'
  readonly #gate: string
  #opened: number | undefined

  private constructor(gate: string) {
    this.#gate = gate
  }

  /** The disk of a folder, until the test ends. */
  static of(t: TestContext, folder: string): FaultyDisk {
    const place = mkdtempSync(join(tmpdir(), 'sonde-gate-'))
    const gate = join(place, 'gate')
    execFileSync('mkfifo', [gate])
    const disk = new FaultyDisk(gate)
    const { open } = fs
    fs.open = async (path, ...rest) => {
      const file = await open(path, ...rest)
      return String(path).startsWith(folder) ? disk.#broken(file, open) : file
    }
    syncBuiltinESMExports()
    t.after(() => {
      disk.answer()
      fs.open = open
      syncBuiltinESMExports()
      if (disk.#opened !== undefined) closeSync(disk.#opened)
      rmSync(place, { recursive: true })
    })
    return disk
  }

  /** Ends the calls that hang, and all faults. */
  answer(): void {
    this.write = 'works'
    this.sync = 'works'
    // A FIFO that somebody may write to keeps no reader waiting.
    this.#opened ??= openSync(this.#gate, constants.O_RDWR | constants.O_NONBLOCK)
  }

  #broken(file: FileHandle, open: typeof fs.open): FileHandle {
    const before = async (fault: CallFault) => {
      if (fault === 'hangs') await (await open(this.#gate, 'r')).close()
      else if (fault !== 'works') throw fault
    }
    const { writev, datasync } = file
    file.writev = (async (...given: Parameters<FileHandle['writev']>) => {
      await before(this.write)
      return writev.apply(file, given)
    }) as FileHandle['writev']
    file.datasync = async () => {
      await before(this.sync)
      return datasync.call(file)
    }
    return file
  }
}
