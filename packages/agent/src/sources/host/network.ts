import type { FieldAbsences } from '../field-absences.ts'
import type { KernelFile, KernelFiles } from '../kernel-file.ts'
import { parseNumber } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { NETSTAT_FIELDS, parseProtocols, SNMP_FIELDS } from './parse-network.ts'
import type { HostPart, HostReader } from './reader.ts'
import { hostNetworkType } from './type.ts'

/** TCP, UDP and IP, from two files, and what the firewall tracks where it does. */
export class Network implements HostPart {
  readonly #context: SourceContext
  readonly #reader: HostReader
  readonly #absences: FieldAbsences
  readonly #files: Readonly<Record<'snmp' | 'netstat' | 'tracked' | 'trackedLimit', KernelFile>>

  constructor(context: SourceContext, reader: HostReader, procfs: KernelFiles, absences: FieldAbsences) {
    this.#context = context
    this.#reader = reader
    this.#absences = absences
    this.#files = {
      snmp: procfs.file('net', 'snmp'),
      netstat: procfs.file('net', 'netstat'),
      tracked: procfs.file('sys', 'net', 'netfilter', 'nf_conntrack_count'),
      trackedLimit: procfs.file('sys', 'net', 'netfilter', 'nf_conntrack_max'),
    }
  }

  sample(time: bigint): boolean {
    const { snmp: snmpFile, netstat: netstatFile, tracked, trackedLimit } = this.#files
    const snmp = this.#reader.read(snmpFile, [], (bytes) => parseProtocols(bytes, SNMP_FIELDS))
    const netstat = this.#reader.read(netstatFile, [], (bytes) => parseProtocols(bytes, NETSTAT_FIELDS))
    if (snmp === undefined && netstat === undefined) {
      this.#absences.absent('', 'failed', `${snmpFile.path} and ${netstatFile.path} cannot be read`)
      return false
    }
    this.#absences.present('')
    for (const [file, found, fields] of [
      [snmpFile, snmp, SNMP_FIELDS],
      [netstatFile, netstat, NETSTAT_FIELDS],
    ] as const) {
      for (const field of fields.values()) {
        if (found?.[field] !== undefined) this.#absences.present(field)
        else if (found === undefined) this.#absences.absent(field, 'failed', `${file.path} cannot be read`)
        else this.#absences.absent(field, 'unsupported', `${file.path} does not say`)
      }
    }
    this.#context.source.report(hostNetworkType, {
      time,
      ...snmp,
      ...netstat,
      tracked_connections: this.#reader.field(tracked, this.#absences, 'tracked_connections', parseNumber),
      tracked_connections_limit: this.#reader.field(
        trackedLimit,
        this.#absences,
        'tracked_connections_limit',
        parseNumber,
      ),
    })
    return true
  }
}
