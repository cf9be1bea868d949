import { Missing } from '../field-absences.ts'
import type { KernelFile } from '../kernel-file.ts'
import { type HostStat, parseStat } from './parse.ts'
import type { HostReader } from './reader.ts'

/** `/proc/stat`, which several parts share. The first part that asks in a sweep reads it. */
export class StatFile {
  readonly file: KernelFile
  readonly #reader: HostReader
  #time = -1n
  #stat: HostStat | Missing = new Missing('not_sampled', 'it was not read yet')

  constructor(reader: HostReader) {
    this.file = reader.procfs.file('stat')
    this.#reader = reader
  }

  /** Returns the content in the sweep of a time, or why it has none. */
  at(time: bigint): HostStat | Missing {
    if (time === this.#time) return this.#stat
    this.#time = time
    const stat = this.#reader.value(this.file, (bytes) => {
      const parsed = parseStat(bytes)
      return parsed.cpus.length > 0 ? parsed : 'lists no CPU'
    })
    if (!(stat instanceof Missing) && stat.malformed !== undefined) this.#reader.malformed(this.file, stat.malformed)
    this.#stat = stat
    return stat
  }
}
