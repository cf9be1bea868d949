import { deviceFilter } from '../device-filter.ts'
import { SeriesPresence } from '../series-presence.ts'
import { BlockDevices } from './block-devices.ts'
import { Multipath } from './multipath.ts'
import { parseDiskstats } from './parse-disks.ts'
import type { HostPartDefinition } from './part.ts'
import { hostDiskType } from './type.ts'

/** Whole disks, all from one file. Partitions and paths repeat the work of their disks, so they are not reported. */
export const disks: HostPartDefinition = {
  types: [hostDiskType],
  create(reader, options) {
    const file = reader.procfs.file('diskstats')
    const absences = reader.absences(hostDiskType)
    const isWanted = deviceFilter(options.disks)
    const present = new SeriesPresence(reader.context.absences, hostDiskType, 'disk')
    const devices = new BlockDevices(reader.sysfs)
    const multipath = new Multipath()
    const parse = (bytes: Uint8Array) => parseDiskstats(bytes, (disk) => devices.kindOf(disk) !== 'partition')
    return {
      sample(time) {
        const found = reader.read(file, parse)
        const whole = found?.disks.filter(({ disk }) => devices.kindOf(disk) === 'disk') ?? []
        if (whole.length === 0) absences.absent('', 'unsupported', `${file.path} lists no disk`)
        else absences.present('')
        if (found === undefined) return false
        if (found.malformed !== undefined) reader.malformed(file, found.malformed)
        present.startSweep()
        multipath.startSweep()
        for (const disk of found.disks) if (devices.kindOf(disk.disk) === 'path') multipath.take(disk)
        for (const disk of whole) {
          if (!isWanted(disk.disk) || !present.met(disk.disk)) continue
          // If one disk has no value for a field, no disk has: the kernel is too old for it.
          absences.tell(disk, 'the kernel does not count it')
          reader.context.source.report(hostDiskType, { time, ...multipath.of(disk) })
        }
        if (found.malformed !== undefined) return true
        present.endSweep('the disk is no longer there')
        multipath.endSweep(new Set(whole.map(({ disk }) => disk)))
        devices.endSweep()
        return true
      },
    }
  },
}
