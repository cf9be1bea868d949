import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { counter, createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'
import { Counter, Gauge, Registry } from 'prom-client'

/** Series that are updated in turn. */
export const SERIES = 1000

/** One way to update metrics: `add` counts a counter up, `set` sets a gauge, both `times` times over all series in turn. */
export interface Contender {
  readonly name: string
  /** Updates a round takes; the slower, the fewer. */
  readonly times: number
  add(times: number): void
  set(times: number): void
}

const LABELS = Array.from({ length: SERIES }, (_, i) => ({
  device: `mlx5_${i % 8}`,
  port: String(1 + (i % 2)),
  queue: `rx-${i}`,
}))
const type = defineType('bench_handle', 'Load of the benchmark', {
  time: timestamp(),
  device: label(),
  port: label(),
  queue: label(),
  rx_bytes_total: counter('u64', { unit: 'bytes' }),
  temperature_celsius: gauge('f64', { unit: 'celsius' }),
})

/** Ours: handles bound once. */
export function sondeHandles(): Contender {
  const source = createSource({ id: 'bench', rowLimit: SERIES, emit: () => undefined })
  const rows = LABELS.map((labels) => source.bind(type, labels))
  const counters = rows.map((row) => row.counter('rx_bytes_total'))
  const gauges = rows.map((row) => row.gauge('temperature_celsius'))
  return {
    name: 'bound handle',
    times: 2_000_000,
    add(times) {
      for (let i = 0, at = 0; i < times; i++, at = at === SERIES - 1 ? 0 : at + 1) counters[at]?.add(1500)
    },
    set(times) {
      for (let i = 0, at = 0; i < times; i++, at = at === SERIES - 1 ? 0 : at + 1) gauges[at]?.set(i)
    },
  }
}

function promClientMetrics() {
  const common = { help: 'A metric', labelNames: ['device', 'port', 'queue'], registers: [new Registry()] }
  const rx = new Counter({ name: 'bench_rx_bytes_total', ...common })
  const temperature = new Gauge({ name: 'bench_temperature_celsius', ...common })
  return { rx, temperature }
}

/** prom-client as its documentation shows it: labels at every update. */
export function promClientLabels(): Contender {
  const { rx, temperature } = promClientMetrics()
  return {
    name: 'prom-client, labels',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) rx.inc(LABELS[i % SERIES] ?? {}, 1500)
    },
    set(times) {
      for (let i = 0; i < times; i++) temperature.set(LABELS[i % SERIES] ?? {}, i)
    },
  }
}

/** prom-client with a child bound once for each series. */
export function promClientChildren(): Contender {
  const { rx, temperature } = promClientMetrics()
  const counters = LABELS.map((labels) => rx.labels(labels))
  const gauges = LABELS.map((labels) => temperature.labels(labels))
  return {
    name: 'prom-client, bound child',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) counters[i % SERIES]?.inc(1500)
    },
    set(times) {
      for (let i = 0; i < times; i++) gauges[i % SERIES]?.set(i)
    },
  }
}

/** OpenTelemetry's SDK, which has no bound instruments; the attributes are made once. */
export function openTelemetry(): Contender {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('bench')
  const rx = meter.createCounter('bench_rx_bytes')
  const temperature = meter.createGauge('bench_temperature_celsius')
  return {
    name: '@opentelemetry/sdk-metrics',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) rx.add(1500, LABELS[i % SERIES])
    },
    set(times) {
      for (let i = 0; i < times; i++) temperature.record(i, LABELS[i % SERIES])
    },
  }
}
