import { deviceFilter } from '../device-filter.ts'
import { SeriesPresence } from '../series-presence.ts'
import { parseDiskstats } from './parse-disks.ts'
import type { HostPartDefinition } from './part.ts'
import { hostDiskType } from './type.ts'

/** Disks, from one file for all. */
export const disks: HostPartDefinition = {
  types: [hostDiskType],
  create(reader, options) {
    const file = reader.procfs.file('diskstats')
    const absences = reader.absences(hostDiskType)
    const isWanted = deviceFilter(options.disks)
    const present = new SeriesPresence(reader.context.absences, hostDiskType, 'device')
    return {
      sample(time) {
        const found = reader.read(file, parseDiskstats)
        if (found === undefined || found.disks.length === 0)
          absences.absent('', 'unsupported', `${file.path} lists no disk`)
        else absences.present('')
        if (found === undefined) return false
        if (found.malformed !== undefined) reader.malformed(file, found.malformed)
        present.startSweep()
        for (const disk of found.disks) {
          if (!isWanted(disk.device) || !present.met(disk.device)) continue
          // What one disk lacks all lack: the kernel is too old for it.
          absences.tell(disk, 'the kernel does not count it')
          reader.context.source.report(hostDiskType, { time, ...disk })
        }
        if (found.malformed === undefined) present.endSweep('the disk is no longer there')
        return true
      },
    }
  },
}
