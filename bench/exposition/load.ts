import {
  type Batch,
  counter,
  createSource,
  defineType,
  type Field,
  gauge,
  label,
  type RecordType,
  timestamp,
} from '@sonde/sdk'
import { Counter, Gauge, Registry, type RegistryContentType } from 'prom-client'

/** Label combinations. */
export const ROWS = 4000
const COUNTERS = 12
const GAUGES = 12
/** Lines of an exposition. */
export const SERIES = ROWS * (COUNTERS + GAUGES)

const fields: Record<string, Field> = { time: timestamp(), device: label(), port: label(), queue: label() }
for (let i = 0; i < COUNTERS; i++) fields[`c${i}_bytes_total`] = counter('u64', { unit: 'bytes', help: 'A counter' })
for (let i = 0; i < GAUGES; i++) fields[`g${i}_celsius`] = gauge('f64', { unit: 'celsius', help: 'A gauge' })

/** 12 counters and 12 gauges by device, port and queue. */
const type = defineType('bench_queue', 'Load of the benchmark', fields) as RecordType

/** The labels of each row. */
export const LABELS = Array.from({ length: ROWS }, (_, row) => ({
  device: `mlx5_${row % 8}`,
  port: String(1 + (row % 2)),
  queue: `rx-queue-${Math.floor(row / 8)}`,
}))

/** Value of a metric of a row after `step` changes: counters far beyond 2^32, gauges with two decimals. */
export function counterAt(row: number, i: number, step: number): number {
  return 9e12 + row * 7919 + i * 1e9 + step * (1000 + row)
}

/** Value of a gauge of a row after `step` changes. */
export function gaugeAt(row: number, i: number, step: number): number {
  return Math.round(2000 + ((row * 31 + i * 17 + step * 13) % 7000)) / 100
}

/** Gives every row, or every n-th, its values after `step` changes. */
export interface Load {
  update(step: number, everyNth: number): void
}

/** Any time that a wall clock may show. */
const START_NS = 1_800_000_000_000_000_000n

/** Our side: rows reported to a source whose batches go to `accept` when `send` is called. */
export function ourLoad(accept: (batch: Batch) => void): Load & { send(): void } {
  const batches: Batch[] = []
  const emit = (batch: Batch) => batches.push({ ...batch, bytes: batch.bytes.slice() })
  const source = createSource({ id: 'bench', labels: { node: 'hgx-a17' }, emit })
  // Each row keeps its object, so that the measured part has little garbage to collect.
  const records = LABELS.map((of): Record<string, unknown> => ({ time: 0n, ...of }))
  return {
    update(step, everyNth) {
      for (let row = 0; row < ROWS; row += everyNth) {
        const record = records[row] ?? {}
        record.time = START_NS + BigInt(step)
        for (let i = 0; i < COUNTERS; i++) record[`c${i}_bytes_total`] = counterAt(row, i, step)
        for (let i = 0; i < GAUGES; i++) record[`g${i}_celsius`] = gaugeAt(row, i, step)
        source.report(type, record)
      }
      source.flush()
    },
    send() {
      for (const batch of batches.splice(0)) accept(batch)
    },
  }
}

/** The same series in prom-client, with children bound beforehand. */
export function promClientLoad(contentType: RegistryContentType): Load & { registry: Registry<RegistryContentType> } {
  const registry = new Registry<RegistryContentType>()
  registry.setContentType(contentType)
  registry.setDefaultLabels({ node: 'hgx-a17' })
  const common = { help: 'A metric', labelNames: ['device', 'port', 'queue'], registers: [registry] }
  const counters = Array.from(
    { length: COUNTERS },
    (_, i) => new Counter({ name: `bench_queue_c${i}_bytes_total`, ...common }),
  )
  const gauges = Array.from({ length: GAUGES }, (_, i) => new Gauge({ name: `bench_queue_g${i}_celsius`, ...common }))
  const bound = LABELS.map((of) => ({
    counters: counters.map((metric) => metric.labels(of)),
    gauges: gauges.map((metric) => metric.labels(of)),
  }))
  const values = new Float64Array(ROWS * COUNTERS)
  return {
    registry,
    update(step, everyNth) {
      for (let row = 0; row < ROWS; row += everyNth) {
        bound[row]?.counters.forEach((child, i) => {
          const at = row * COUNTERS + i
          const value = counterAt(row, i, step)
          child.inc(value - (values[at] ?? 0))
          values[at] = value
        })
        bound[row]?.gauges.forEach((child, i) => {
          child.set(gaugeAt(row, i, step))
        })
      }
    },
  }
}
