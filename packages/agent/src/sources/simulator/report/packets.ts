import { PACKET_BYTES } from '../model/pace.ts'

/** Bytes of each kind of packet as RDMA counts them, and the bytes that the port adds: Ethernet header and checksum. */
const DATA = PACKET_BYTES
const ACK = 20
const HEADERS = 62
/** Bytes of all other packets at the port. */
const MANAGEMENT = 90
const NOTIFICATION = 78

/** Packets of RDMA, and their bytes without headers. Traffic of other tenants is RDMA too. */
export const RDMA = {
  rxPackets: { rxData: 1, rxAck: 1 },
  txPackets: { txData: 1, txAck: 1, txUnguardedData: 1, txUnguardedAck: 1 },
  rxBytes: { rxData: DATA, rxAck: ACK },
  txBytes: { txData: DATA, txAck: ACK, txUnguardedData: DATA, txUnguardedAck: ACK },
} as const

/**
 * Bytes at the port by priority: 3 is for RDMA, 6 for congestion notifications, 0 for all other traffic, and for RDMA
 * that lost its priority.
 */
export const PRIORITY_BYTES = {
  0: {
    rx: { rxManagement: MANAGEMENT },
    tx: {
      txManagement: MANAGEMENT,
      txOther: DATA + HEADERS,
      txUnguardedData: DATA + HEADERS,
      txUnguardedAck: ACK + HEADERS,
    },
  },
  3: {
    rx: { rxData: DATA + HEADERS, rxAck: ACK + HEADERS },
    tx: { txData: DATA + HEADERS, txAck: ACK + HEADERS },
  },
  6: { rx: { throttled: NOTIFICATION }, tx: { cnpSent: NOTIFICATION } },
} as const

/** All traffic of a port. */
export const PORT = {
  rxPackets: { rxData: 1, rxAck: 1, rxManagement: 1, throttled: 1 },
  txPackets: { ...RDMA.txPackets, txManagement: 1, txOther: 1, cnpSent: 1 },
  rxBytes: { ...PRIORITY_BYTES[0].rx, ...PRIORITY_BYTES[3].rx, ...PRIORITY_BYTES[6].rx },
  txBytes: { ...PRIORITY_BYTES[0].tx, ...PRIORITY_BYTES[3].tx, ...PRIORITY_BYTES[6].tx },
} as const
