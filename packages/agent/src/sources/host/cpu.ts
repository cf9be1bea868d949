import { SeriesPresence } from '../series-presence.ts'
import { CpuMarks } from './cpu-marks.ts'
import type { HostPartDefinition } from './part.ts'
import { hostCpuType } from './type.ts'

/** Times of CPUs, from `stat`. */
export const cpu: HostPartDefinition = {
  types: [hostCpuType],
  create(reader) {
    const absences = reader.absences(hostCpuType)
    const present = new SeriesPresence(reader.context.absences, hostCpuType, 'cpu')
    const marks = new CpuMarks()
    return {
      sample(time) {
        const stat = absences.settle('', reader.stat.at(time))
        if (stat === undefined) return false
        present.startSweep()
        for (const times of stat.cpus) {
          if (present.met(times.cpu)) reader.context.source.report(hostCpuType, { time, ...marks.raise(times) })
        }
        // The CPU of a line that cannot be read may still be online.
        if (stat.malformed !== undefined) return true
        present.endSweep('the CPU is offline')
        marks.endSweep()
        return true
      },
    }
  },
}
