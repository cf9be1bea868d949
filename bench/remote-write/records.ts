import { type Batch, counter, createSource, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

/** Ports of the node; each is a record. */
const RECORDS = 500
/** Metrics of a port. */
const COUNTERS = 20
const GAUGES = 10
/** Series of a sweep. */
export const SERIES = RECORDS * (COUNTERS + GAUGES)

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** A port like those of a node with many NICs: three labels, counters of bytes and packets, and gauges. */
const port = defineType('bench_port', 'A port', {
  time: timestamp(),
  rdma_device: label(),
  port: label(),
  netdev: label(),
  ...Object.fromEntries(numbers(COUNTERS).map((i) => [`rx_prio${i}_discards_total`, counter('u64')])),
  ...Object.fromEntries(
    numbers(GAUGES).map((i) => [`lane${i}_temperature_celsius`, gauge('f64', { unit: 'celsius' })]),
  ),
})

/** Makes one batch after another, each with all ports at one time; two in three values change. */
export function sweeps(): () => Batch {
  let made: Batch | undefined
  const emit = (batch: Batch) => {
    made = { ...batch, bytes: batch.bytes.slice() }
  }
  const source = createSource({ id: 'bench', bufferBytes: 4 << 20, emit })
  let sweep = 0
  return () => {
    const time = wallNs()
    sweep++
    for (let device = 0; device < RECORDS; device++) {
      const record: Record<string, unknown> = {
        time,
        rdma_device: `mlx5_${device}`,
        port: '1',
        netdev: `ens${device}f0np0`,
      }
      for (let i = 0; i < COUNTERS; i++)
        record[`rx_prio${i}_discards_total`] = i % 3 === 0 ? device : sweep * 1234567 * (i + 1)
      for (let i = 0; i < GAUGES; i++)
        record[`lane${i}_temperature_celsius`] = 40 + ((sweep * 7 + device + i) % 200) / 10
      source.report(port, record as never)
    }
    source.flush()
    return made as Batch
  }
}
