import type { RecordOf } from '@sonde/sdk'
import { isNumber, KernelText } from '../kernel-text.ts'
import type { hostSocketsType } from './type.ts'

/** Values of `host_sockets` from one file. */
export type HostSockets = Partial<Omit<RecordOf<typeof hostSocketsType>, 'time'>>

/** The field of each protocol and word in `sockstat` and `sockstat6`. */
const FIELDS: Readonly<Record<string, keyof HostSockets>> = {
  'sockets used': 'used',
  'TCP inuse': 'tcp_used',
  'TCP orphan': 'tcp_orphans',
  'TCP tw': 'tcp_time_wait',
  'TCP alloc': 'tcp_allocated',
  'TCP mem': 'tcp_memory_pages',
  'UDP inuse': 'udp_used',
  'UDP mem': 'udp_memory_pages',
  'RAW inuse': 'raw_used',
  'FRAG memory': 'fragment_memory_bytes',
  'TCP6 inuse': 'tcp6_used',
  'UDP6 inuse': 'udp6_used',
}

/** Reads `sockstat` or `sockstat6`: a protocol a line, then words and numbers in turn. */
export function parseSockets(bytes: Uint8Array): HostSockets | string {
  const text = new KernelText(bytes)
  const found: HostSockets = {}
  for (; !text.done; text.nextLine()) {
    const protocol = text.word().slice(0, -1)
    while (!text.lineDone()) {
      const field = FIELDS[`${protocol} ${text.word()}`]
      const value = text.u64()
      if (field !== undefined && isNumber(value)) found[field] = value
    }
  }
  return Object.keys(found).length === 0 ? 'has no socket of a protocol' : found
}
