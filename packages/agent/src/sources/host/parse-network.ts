import type { RecordOf } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'
import type { hostNetworkType } from './type.ts'

/** Values of `host_network` from one file. */
export type HostNetwork = Partial<Omit<RecordOf<typeof hostNetworkType>, 'time'>>
type NetworkField = keyof HostNetwork

/** The field of each protocol and word in `/proc/net/snmp`. */
export const SNMP_FIELDS: ReadonlyMap<string, NetworkField> = new Map([
  ['Tcp ActiveOpens', 'tcp_active_opens_total'],
  ['Tcp PassiveOpens', 'tcp_passive_opens_total'],
  ['Tcp AttemptFails', 'tcp_attempt_fails_total'],
  ['Tcp EstabResets', 'tcp_established_resets_total'],
  ['Tcp CurrEstab', 'tcp_established'],
  ['Tcp InSegs', 'tcp_rx_segments_total'],
  ['Tcp OutSegs', 'tcp_tx_segments_total'],
  ['Tcp RetransSegs', 'tcp_retransmitted_segments_total'],
  ['Tcp InErrs', 'tcp_rx_errors_total'],
  ['Tcp OutRsts', 'tcp_tx_resets_total'],
  ['Udp InDatagrams', 'udp_rx_datagrams_total'],
  ['Udp OutDatagrams', 'udp_tx_datagrams_total'],
  ['Udp NoPorts', 'udp_no_port_datagrams_total'],
  ['Udp InErrors', 'udp_rx_errors_total'],
  ['Udp RcvbufErrors', 'udp_rx_buffer_errors_total'],
  ['Udp SndbufErrors', 'udp_tx_buffer_errors_total'],
  ['Ip InDiscards', 'ip_rx_discards_total'],
  ['Ip OutDiscards', 'ip_tx_discards_total'],
  ['Ip OutNoRoutes', 'ip_no_route_packets_total'],
])

/** The field of each protocol and word in `/proc/net/netstat`. */
export const NETSTAT_FIELDS: ReadonlyMap<string, NetworkField> = new Map([
  ['TcpExt ListenOverflows', 'tcp_listen_overflows_total'],
  ['TcpExt ListenDrops', 'tcp_listen_drops_total'],
  ['TcpExt TCPBacklogDrop', 'tcp_backlog_drops_total'],
  ['TcpExt TCPTimeouts', 'tcp_timeouts_total'],
  ['TcpExt TCPSynRetrans', 'tcp_syn_retransmits_total'],
  ['TcpExt TCPLostRetransmit', 'tcp_lost_retransmits_total'],
  ['IpExt InCEPkts', 'ip_rx_congestion_marks_total'],
])

/**
 * Reads `snmp` or `netstat`: pairs of lines, names in the first and numbers in the second. Values that the kernel does
 * not print are left out.
 */
export function parseProtocols(bytes: Uint8Array, fields: ReadonlyMap<string, NetworkField>): HostNetwork | string {
  const text = new KernelText(bytes)
  const found: HostNetwork = {}
  while (!text.done) {
    const protocol = text.word().slice(0, -1)
    const names = text.textTo(text.lineEnd()).split(' ')
    text.nextLine()
    if (text.word().slice(0, -1) !== protocol) return 'holds a line of names without one of numbers'
    const numbers = text.textTo(text.lineEnd()).split(' ')
    for (const [index, name] of names.entries()) {
      const field = fields.get(`${protocol} ${name}`)
      const value = field === undefined ? undefined : parseU64(numbers[index])
      if (field !== undefined && value !== undefined) found[field] = value
    }
    text.nextLine()
  }
  return Object.keys(found).length === 0 ? 'has no counter of a protocol' : found
}

/** Parses one number. A line has about a hundred of them, and few are needed. */
function parseU64(text: string | undefined): Integer64 | undefined {
  const value = new KernelText(Buffer.from(text ?? '')).u64()
  return isNumber(value) ? value : undefined
}
