import { parseFileNr } from './parse.ts'
import { parseLabel } from './parse-sysfs.ts'
import type { HostPartDefinition } from './part.ts'
import { hostKernelType } from './type.ts'

/** Counts of the kernel for the whole node, from `stat` and two small files. */
export const kernel: HostPartDefinition = {
  types: [hostKernelType],
  create(reader) {
    const { procfs } = reader
    const absences = reader.absences(hostKernelType)
    const fileNr = procfs.file('sys', 'fs', 'file-nr')
    const osrelease = procfs.file('sys', 'kernel', 'osrelease')
    return {
      sample(time) {
        const stat = absences.settle('', reader.stat.at(time))
        if (stat === undefined) return false
        const record = { ...stat.kernel, ...reader.read(fileNr, parseFileNr), ...reader.read(osrelease, parseRelease) }
        absences.tell(record, `${procfs.root} does not have it`)
        reader.context.source.report(hostKernelType, { time, ...record })
        return true
      },
    }
  },
}

function parseRelease(bytes: Uint8Array): { release: string } | string {
  const release = parseLabel(bytes)
  return release === undefined ? 'holds no release' : { release }
}
