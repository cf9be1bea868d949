import type { PlainFlow } from './sample.ts'

/** Size of the text in the packet. Unit: bytes. */
const TEXT_BYTES = 64
/** Size of a flow in the packet. Unit: bytes. */
export const FLOW_BYTES = 165
const HEADER_BYTES = 20
const PACKET_BYTES_MAX = 1452

/** The builder that programs of Node write by hand: packets of NetFlow v9 with data sets, field by field. */
export function* builtPackets(flows: readonly PlainFlow[], templateId: number): Generator<Buffer> {
  const most = Math.floor((PACKET_BYTES_MAX - HEADER_BYTES - 4) / FLOW_BYTES)
  for (let start = 0; start < flows.length; start += most) {
    const part = flows.slice(start, start + most)
    const setBytes = Math.ceil((4 + part.length * FLOW_BYTES) / 4) * 4
    const packet = Buffer.alloc(HEADER_BYTES + setBytes)
    packet.writeUInt16BE(9, 0)
    packet.writeUInt16BE(part.length, 2)
    packet.writeUInt32BE(0, 4)
    packet.writeUInt32BE(1_800_000_000, 8)
    packet.writeUInt32BE(start / most, 12)
    packet.writeUInt32BE(111, 16)
    packet.writeUInt16BE(templateId, 20)
    packet.writeUInt16BE(setBytes, 22)
    let at = HEADER_BYTES + 4
    for (const flow of part) at = write(packet, flow, at)
    yield packet
  }
}

function write(packet: Buffer, flow: PlainFlow, start: number): number {
  let at = packet.writeUInt32BE(flow.source_ipv4, start)
  at = packet.writeUInt32BE(flow.destination_ipv4, at)
  at += flow.source_ipv6.copy(packet, at)
  at += flow.destination_ipv6.copy(packet, at)
  at = packet.writeUInt32BE(flow.next_hop_ipv4, at)
  at += flow.next_hop_ipv6.copy(packet, at)
  at = packet.writeUInt16BE(flow.input, at)
  at = packet.writeUInt16BE(flow.output, at)
  at = packet.writeUInt16BE(flow.source_port, at)
  at = packet.writeUInt16BE(flow.destination_port, at)
  at = packet.writeUInt8(flow.tcp_flags, at)
  at = packet.writeUInt8(flow.protocol, at)
  at = packet.writeUInt8(flow.tos, at)
  at = packet.writeUInt16BE(flow.source_as, at)
  at = packet.writeUInt16BE(flow.destination_as, at)
  at = packet.writeUInt8(flow.source_mask, at)
  at = packet.writeUInt8(flow.destination_mask, at)
  at = packet.writeUInt32BE(flow.packets, at)
  at = packet.writeUInt32BE(flow.bytes, at)
  at = packet.writeUInt32BE(flow.first, at)
  at = packet.writeUInt32BE(flow.last, at)
  at = packet.writeBigUInt64BE(flow.transaction, at)
  packet.write(flow.application, at)
  return at + TEXT_BYTES
}
