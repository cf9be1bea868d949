import { parseNumber } from '../kernel-text.ts'
import { NETSTAT_FIELDS, parseProtocols, SNMP_FIELDS } from './parse-network.ts'
import type { HostPartDefinition } from './part.ts'
import { hostNetworkType } from './type.ts'

/** TCP, UDP and IP, from two files, and the number of connections that the firewall tracks. */
export const network: HostPartDefinition = {
  types: [hostNetworkType],
  create(reader) {
    const { procfs } = reader
    const attributes = reader.attributes(hostNetworkType)
    const { absences } = attributes
    const snmpFile = procfs.file('net', 'snmp')
    const netstatFile = procfs.file('net', 'netstat')
    const tracked = procfs.file('sys', 'net', 'netfilter', 'nf_conntrack_count')
    const trackedLimit = procfs.file('sys', 'net', 'netfilter', 'nf_conntrack_max')
    return {
      sample(time) {
        const snmp = reader.read(snmpFile, (bytes) => parseProtocols(bytes, SNMP_FIELDS))
        const netstat = reader.read(netstatFile, (bytes) => parseProtocols(bytes, NETSTAT_FIELDS))
        if (snmp === undefined && netstat === undefined) {
          absences.absent('', 'failed', `${snmpFile.path} and ${netstatFile.path} cannot be read`)
          return false
        }
        absences.present('')
        for (const [file, found, fields] of [
          [snmpFile, snmp, SNMP_FIELDS],
          [netstatFile, netstat, NETSTAT_FIELDS],
        ] as const) {
          for (const field of fields.values()) {
            if (found?.[field] !== undefined) absences.present(field)
            else if (found === undefined) absences.absent(field, 'failed', `${file.path} cannot be read`)
            else absences.absent(field, 'unsupported', `${file.path} does not have it`)
          }
        }
        reader.context.source.report(hostNetworkType, {
          time,
          ...snmp,
          ...netstat,
          tracked_connections: attributes.read('tracked_connections', tracked, parseNumber),
          tracked_connections_limit: attributes.read('tracked_connections_limit', trackedLimit, parseNumber),
        })
        return true
      },
    }
  },
}
