import type { FieldAbsences } from '../field-absences.ts'
import type { KernelFile } from '../kernel-file.ts'
import { SeriesPresence } from '../series-presence.ts'
import type { SourceContext } from '../source.ts'
import { parseDiskstats } from './parse-disks.ts'
import type { HostPart, HostReader } from './reader.ts'
import { hostDiskType } from './type.ts'

const REASON = 'the kernel does not count it'

/** Disks, from one file for all. */
export class Disks implements HostPart {
  readonly #context: SourceContext
  readonly #reader: HostReader
  readonly #file: KernelFile
  readonly #absences: FieldAbsences
  readonly #wanted: (device: string) => boolean
  readonly #present: SeriesPresence

  constructor(
    context: SourceContext,
    reader: HostReader,
    file: KernelFile,
    absences: FieldAbsences,
    wanted: (device: string) => boolean,
  ) {
    this.#context = context
    this.#reader = reader
    this.#file = file
    this.#absences = absences
    this.#wanted = wanted
    this.#present = new SeriesPresence(context.absences, hostDiskType, 'device')
  }

  sample(time: bigint): boolean {
    const found = this.#reader.read(this.#file, [], parseDiskstats)
    if (found === undefined || found.disks.length === 0) {
      this.#absences.absent('', 'unsupported', `${this.#file.path} lists no disk`)
    } else this.#absences.present('')
    if (found === undefined) return false
    if (found.malformed !== undefined) {
      this.#reader.wrong(this.#file, `holds a line that cannot be read: ${JSON.stringify(found.malformed)}`)
    }
    this.#present.startSweep()
    for (const disk of found.disks) {
      if (!this.#wanted(disk.device) || !this.#present.met(disk.device)) continue
      // What one disk lacks all lack: the kernel is too old for it.
      this.#absences.tell(disk, REASON)
      this.#context.source.report(hostDiskType, { time, ...disk })
    }
    if (found.malformed === undefined) this.#present.endSweep('the disk is no longer there')
    return true
  }
}
