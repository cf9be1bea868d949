import { type Batch, createSource, defineType, element, timestamp, value } from '@sonde/sdk'

/** Flows in a batch. */
export const FLOWS = 1000

/** The fields of the guide's sample: 23, with 165 bytes in the packet. */
const sample = defineType('netflow_sample', 'A flow of the sample', {
  time: timestamp(),
  source_ipv4: element('IPV4_SRC_ADDR'),
  destination_ipv4: element('IPV4_DST_ADDR'),
  source_ipv6: element('IPV6_SRC_ADDR'),
  destination_ipv6: element('IPV6_DST_ADDR'),
  next_hop_ipv4: element('IPV4_NEXT_HOP'),
  next_hop_ipv6: element('IPV6_NEXT_HOP'),
  input: element('INPUT_SNMP', value('u16')),
  output: element('OUTPUT_SNMP', value('u16')),
  source_port: element('L4_SRC_PORT'),
  destination_port: element('L4_DST_PORT'),
  tcp_flags: element('TCP_FLAGS'),
  protocol: element('PROTOCOL'),
  tos: element('SRC_TOS'),
  source_as: element('SRC_AS', value('u16')),
  destination_as: element('DST_AS', value('u16')),
  source_mask: element('SRC_MASK'),
  destination_mask: element('DST_MASK'),
  packets: element('IN_PKTS', value('u32')),
  bytes: element('IN_BYTES', value('u32')),
  first: element('FIRST_SWITCHED'),
  last: element('LAST_SWITCHED'),
  transaction: element('CONNECTION_TRANSACTION_ID'),
  application: element('APPLICATION_NAME'),
})

/** A flow as a program of Node would hold it, with its addresses as bytes. */
export interface PlainFlow {
  readonly source_ipv4: number
  readonly destination_ipv4: number
  readonly source_ipv6: Buffer
  readonly destination_ipv6: Buffer
  readonly next_hop_ipv4: number
  readonly next_hop_ipv6: Buffer
  readonly input: number
  readonly output: number
  readonly source_port: number
  readonly destination_port: number
  readonly tcp_flags: number
  readonly protocol: number
  readonly tos: number
  readonly source_as: number
  readonly destination_as: number
  readonly source_mask: number
  readonly destination_mask: number
  readonly packets: number
  readonly bytes: number
  readonly first: number
  readonly last: number
  readonly transaction: bigint
  readonly application: string
}

const v6 = (last: number): Buffer => Buffer.from([0xfe, 0x80, ...Array(13).fill(0), last])

/** The flows of a batch. */
export const plainFlows: readonly PlainFlow[] = Array.from({ length: FLOWS }, (_, i) => ({
  source_ipv4: 0xc0a87801,
  destination_ipv4: 0xc0a87802,
  source_ipv6: v6(1),
  destination_ipv6: v6(2),
  next_hop_ipv4: 0x85858585,
  next_hop_ipv6: v6(3),
  input: 1,
  output: 65_535,
  source_port: 5353,
  destination_port: 8000 + (i % 100),
  tcp_flags: 0,
  protocol: 17,
  tos: 0,
  source_as: 0,
  destination_as: 0,
  source_mask: 0,
  destination_mask: 0,
  packets: 9,
  bytes: 1909,
  first: 1000,
  last: 5545,
  transaction: BigInt(i),
  application: 'DOCA TELEMETRY NETFLOW EXAMPLE',
}))

/** The same flows as a batch of packed records. */
export function sampleBatch(): Batch {
  const batches: Batch[] = []
  const emit = (batch: Batch) => void batches.push({ ...batch, bytes: batch.bytes.slice() })
  const source = createSource({ id: 'bench', bufferBytes: 1 << 20, emit })
  for (const flow of plainFlows) {
    const { source_ipv6, destination_ipv6, next_hop_ipv6 } = flow
    const addresses = { source_ipv6: [...source_ipv6], destination_ipv6: [...destination_ipv6] }
    source.report(sample, {
      ...flow,
      ...addresses,
      next_hop_ipv6: [...next_hop_ipv6],
      time: 1_800_000_000_000_000_000n,
    })
  }
  source.flush()
  return batches[0] as Batch
}
