import { type Batch, counter, createSource, gauge, label, type RecordType, timestamp } from '@sonde/sdk'

/** Records in a batch. */
export const RECORDS = 1000

/** The fields of records like those of a port. */
export const portFields = {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64'),
  rx_packets_total: counter('u64'),
  rx_drops_total: counter('u32'),
  tx_bytes_total: counter('u64'),
  tx_packets_total: counter('u64'),
  tx_drops_total: counter('u32'),
  heat: gauge('f64'),
  number: gauge('u32'),
}

/** A batch; the field `number` of its records runs from 0. */
export function portBatch(type: RecordType<typeof portFields>): Batch {
  const batches: Batch[] = []
  const emit = (batch: Batch) => void batches.push({ ...batch, bytes: batch.bytes.slice() })
  const source = createSource({ id: 'bench', bufferBytes: 1 << 20, emit })
  for (let i = 0; i < RECORDS; i++) source.report(type, portRecord(i))
  source.flush()
  return batches[0] as Batch
}

function portRecord(i: number) {
  const rx = { rx_bytes_total: i * 1e9, rx_packets_total: i * 1e6, rx_drops_total: i }
  const tx = { tx_bytes_total: i * 1e9, tx_packets_total: i * 1e6, tx_drops_total: i }
  return { time: 1_790_000_000_000_000_000n + BigInt(i), device: `eth${i % 16}`, ...rx, ...tx, heat: 41.5, number: i }
}
