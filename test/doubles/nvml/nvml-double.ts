import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOURCE = join(import.meta.dirname, 'nvml.c')
const FLAGS = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2', '-fvisibility=hidden', '-shared', '-fPIC']

let built: string | undefined

/** The library, built once in a process. */
function build(): string {
  if (built !== undefined) return built
  const folder = mkdtempSync(join(tmpdir(), 'sonde-nvml-built-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const library = join(folder, 'libnvidia-ml.so.1')
  execFileSync('cc', [...FLAGS, '-o', library, SOURCE])
  built = library
  return built
}

/** `libnvidia-ml.so.1`, in a folder of a test's own. What it answers may change at any time. */
export class NvmlDouble {
  /** Where the library is. */
  readonly folder: string

  /** When the test ends its scenario goes, and with it whatever hangs. Needs `cc`. */
  constructor(test: { after(end: () => void): void }) {
    this.folder = mkdtempSync(join(tmpdir(), 'sonde-nvml-'))
    copyFileSync(build(), this.library)
    test.after(() => rmSync(this.folder, { recursive: true, force: true }))
    this.play({})
  }

  get library(): string {
    return join(this.folder, 'libnvidia-ml.so.1')
  }

  /**
   * What it answers from now on: `gpus`, `driver`, and of each GPU `gpu0.util`, `gpu0.field94`, `gpu0.hang`; the file
   * `nvml.c` says which there are and their defaults.
   */
  play(numbers: Readonly<Record<string, number>>): void {
    const lines = Object.entries(numbers).map(([name, value]) => `${name} ${value}\n`)
    // Renamed into place: the library may read at this moment.
    writeFileSync(join(this.folder, 'next'), lines.join(''))
    renameSync(join(this.folder, 'next'), join(this.folder, 'scenario'))
  }
}
