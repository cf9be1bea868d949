import { PACKET_BYTES } from '../model/pace.ts'

/** Bytes of a packet of each kind as RDMA counts it, and what the port adds to it: Ethernet header and checksum. */
const DATA = PACKET_BYTES
const ACK = 20
const HEADERS = 62
/** Bytes of all other packets at the port. */
const MANAGEMENT = 90
const NOTIFICATION = 78

/** Packets of RDMA, and their bytes without headers. What another tenant sends is RDMA too. */
export const RDMA = {
  rxPackets: { rxData: 1, rxAck: 1 },
  txPackets: { txData: 1, txAck: 1 },
  rxBytes: { rxData: DATA, rxAck: ACK },
  txBytes: { txData: DATA, txAck: ACK },
} as const

/**
 * Bytes at the port by priority: 3 is that of RDMA, 6 that of congestion notifications; all else goes with priority 0.
 */
export const PRIORITY_BYTES = {
  0: { rx: { rxManagement: MANAGEMENT }, tx: { txManagement: MANAGEMENT, txOther: DATA + HEADERS } },
  3: {
    rx: { rxData: DATA + HEADERS, rxAck: ACK + HEADERS },
    tx: { txData: DATA + HEADERS, txAck: ACK + HEADERS },
  },
  6: { rx: { throttled: NOTIFICATION }, tx: { cnpSent: NOTIFICATION } },
} as const

/** All that goes through a port. */
export const PORT = {
  rxPackets: { rxData: 1, rxAck: 1, rxManagement: 1, throttled: 1 },
  txPackets: { txData: 1, txAck: 1, txManagement: 1, txOther: 1, cnpSent: 1 },
  rxBytes: { ...PRIORITY_BYTES[0].rx, ...PRIORITY_BYTES[3].rx, ...PRIORITY_BYTES[6].rx },
  txBytes: { ...PRIORITY_BYTES[0].tx, ...PRIORITY_BYTES[3].tx, ...PRIORITY_BYTES[6].tx },
} as const
