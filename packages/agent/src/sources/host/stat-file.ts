import { Lack } from '../field-absences.ts'
import type { KernelFile } from '../kernel-file.ts'
import { type HostStat, parseStat } from './parse.ts'
import type { HostReader } from './reader.ts'

/** `/proc/stat`, which several parts are made of: the one that asks first in a sweep reads it. */
export class StatFile {
  readonly file: KernelFile
  readonly #reader: HostReader
  #time = -1n
  #held: HostStat | Lack = new Lack('not_sampled', 'it was not read yet')

  constructor(reader: HostReader) {
    this.file = reader.procfs.file('stat')
    this.#reader = reader
  }

  /** What it holds in the sweep of a time, or why it gives nothing. */
  at(time: bigint): HostStat | Lack {
    if (time === this.#time) return this.#held
    this.#time = time
    const held = this.#reader.value(this.file, (bytes) => {
      const parsed = parseStat(bytes)
      return parsed.cpus.length > 0 ? parsed : 'lists no CPU'
    })
    if (!(held instanceof Lack) && held.malformed !== undefined) this.#reader.malformed(this.file, held.malformed)
    this.#held = held
    return held
  }
}
