import { Missing } from '../field-absences.ts'
import { SeriesPresence } from '../series-presence.ts'
import { type HostSoftnet, type HostStat, parseSoftnet } from './parse.ts'
import type { HostPartDefinition } from './part.ts'
import { hostSoftnetType } from './type.ts'

/** The receive path of the network stack, by CPU. */
export const softnet: HostPartDefinition = {
  types: [hostSoftnetType],
  create(reader) {
    const file = reader.procfs.file('net', 'softnet_stat')
    const absences = reader.absences(hostSoftnetType)
    const present = new SeriesPresence(reader.context.absences, hostSoftnetType, 'cpu')
    return {
      sample(time) {
        const stat = reader.stat.at(time)
        const found = reader.value(file, (bytes) => withCpus(parseSoftnet(bytes), stat))
        const lines = absences.settle('', found)
        if (lines === undefined) return !(stat instanceof Missing)
        present.startSweep()
        for (const { cpu, ...totals } of lines) {
          if (cpu !== undefined && present.met(cpu))
            reader.context.source.report(hostSoftnetType, { time, cpu, ...totals })
        }
        present.endSweep('the CPU is offline')
        return true
      },
    }
  },
}

/** Adds the CPUs of `stat` to the lines of an old kernel, which do not name their CPU. */
function withCpus(lines: HostSoftnet[] | string, stat: HostStat | Missing): HostSoftnet[] | string {
  if (typeof lines === 'string' || lines.every(({ cpu }) => cpu !== undefined)) return lines
  const cpus = stat instanceof Missing ? [] : stat.cpus
  if (cpus.length !== lines.length) return 'does not say which CPU a line belongs to'
  return lines.map((line, index) => ({ ...line, cpu: cpus[index]?.cpu }))
}
