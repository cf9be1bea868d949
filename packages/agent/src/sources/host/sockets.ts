import { parseSockets } from './parse-sockets.ts'
import type { HostPartDefinition } from './part.ts'
import { hostSocketsType } from './type.ts'

/** Sockets, from a file for IPv4 and one for IPv6, which a kernel without IPv6 does not have. */
export const sockets: HostPartDefinition = {
  types: [hostSocketsType],
  create(reader) {
    const { procfs } = reader
    const absences = reader.absences(hostSocketsType)
    const file = procfs.file('net', 'sockstat')
    const file6 = procfs.file('net', 'sockstat6')
    return {
      sample(time) {
        const values = absences.settle('', reader.value(file, parseSockets))
        if (values === undefined) return false
        const record = { ...values, ...reader.read(file6, parseSockets) }
        absences.tell(record, `${procfs.root}/net/sockstat does not have it`)
        reader.context.source.report(hostSocketsType, { time, ...record })
        return true
      },
    }
  },
}
