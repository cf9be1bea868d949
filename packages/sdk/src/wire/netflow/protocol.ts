/** The protocol of a packet. `v9`: NetFlow version 9 of RFC 3954. `ipfix`: RFC 7011. */
export type FlowProtocol = 'v9' | 'ipfix'

/** The numbers in which the protocols differ. */
interface ProtocolNumbers {
  readonly version: number
  readonly headerBytes: number
  /** Ids of the sets that hold templates and options templates. */
  readonly templateSet: number
  readonly optionsSet: number
}

/** These numbers by protocol. */
export const PROTOCOLS: Readonly<Record<FlowProtocol, ProtocolNumbers>> = {
  v9: { version: 9, headerBytes: 20, templateSet: 0, optionsSet: 1 },
  ipfix: { version: 10, headerBytes: 16, templateSet: 2, optionsSet: 3 },
}

/** Header of a set: its id and its length. Unit: bytes. */
export const SET_HEADER_BYTES = 4
/** Sets end at a multiple of this number. Unit: bytes. */
export const SET_ALIGNMENT = 4
/** The first id of a template; smaller numbers are ids of other sets. */
export const TEMPLATE_ID_MIN = 256
/** The last id of a template. */
export const TEMPLATE_ID_MAX = 65_535
/** Length of an IPFIX field that carries its own length. */
export const VARIABLE_LENGTH = 65_535

/** The contents of the header of a packet. */
export interface PacketHeader {
  /** Records of the packet with its templates, for v9. */
  readonly count: number
  /** Size of the packet, for IPFIX. Unit: bytes. */
  readonly bytes: number
  /** v9: packets before it. IPFIX: data records before it. Modulo 2^32. */
  readonly sequence: number
  /** Source id of v9, observation domain of IPFIX. */
  readonly domainId: number
  /** When the packet is sent. Unit: milliseconds since the Unix epoch. */
  readonly wallMs: number
  /** When the host booted, for v9. Unit: milliseconds since the Unix epoch. */
  readonly bootMs: number
}

/** Writes the header at the beginning of a packet. Pure. */
export function writeHeader(protocol: FlowProtocol, out: DataView, header: PacketHeader): void {
  const { count, bytes, sequence, domainId, wallMs, bootMs } = header
  const seconds = Math.floor(wallMs / 1000)
  out.setUint16(0, PROTOCOLS[protocol].version)
  if (protocol === 'ipfix') {
    out.setUint16(2, bytes)
    out.setUint32(4, seconds)
    out.setUint32(8, sequence)
    out.setUint32(12, domainId)
    return
  }
  out.setUint16(2, count)
  // A collector computes times from both fields. The seconds are whole, so the uptime is that at their beginning.
  out.setUint32(4, seconds * 1000 - Math.round(bootMs))
  out.setUint32(8, seconds)
  out.setUint32(12, sequence)
  out.setUint32(16, domainId)
}
