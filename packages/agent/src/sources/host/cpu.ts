import { SeriesPresence } from '../series-presence.ts'
import type { HostPartDefinition } from './part.ts'
import { hostCpuType } from './type.ts'

/** CPUs, of `stat`. */
export const cpu: HostPartDefinition = {
  types: [hostCpuType],
  create(reader) {
    const absences = reader.absences(hostCpuType)
    const present = new SeriesPresence(reader.context.absences, hostCpuType, 'cpu')
    return {
      sample(time) {
        const stat = absences.settle('', reader.stat.at(time))
        if (stat === undefined) return false
        present.startSweep()
        for (const times of stat.cpus) {
          if (present.met(times.cpu)) reader.context.source.report(hostCpuType, { time, ...times })
        }
        // A line that could not be read may be that of a CPU which is still there.
        if (stat.malformed === undefined) present.endSweep('the CPU is offline')
        return true
      },
    }
  },
}
