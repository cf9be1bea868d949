import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createMetrics, createSource } from '@sonde/sdk'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Series that are updated in turn. */
export const SERIES = 1000

/**
 * One way to update metrics: `add` counts a counter up, `set` sets a gauge, `observe` counts into a histogram, each
 * `times` times over all series in turn.
 */
export interface Contender {
  readonly name: string
  /** Updates a round takes; the slower, the fewer. */
  readonly times: number
  add(times: number): void
  set(times: number): void
  observe(times: number): void
}

const LABELS = Array.from({ length: SERIES }, (_, i) => ({
  device: `mlx5_${i % 8}`,
  port: String(1 + (i % 2)),
  queue: `rx-${i}`,
}))
const LABEL_NAMES = ['device', 'port', 'queue'] as const
/** Those that prom-client has by default. */
const EDGES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What is observed in turn: every bin comes, in no order. */
const WAITS = Float64Array.from({ length: 1024 }, (_, i) => ((i * 619) % 1024) / 85)

/** Ours: handles bound once. */
export function sondeHandles(): Contender {
  const metrics = createMetrics(createSource({ id: 'bench', emit: () => undefined }), { flushIntervalMs: 0 })
  const common = { help: 'A metric', labels: LABEL_NAMES }
  const rx = metrics.counter('bench_rx_bytes_total', { ...common, unit: 'bytes' })
  const temperature = metrics.gauge('bench_temperature_celsius', { ...common, unit: 'celsius' })
  const wait = metrics.histogram('bench_wait_seconds', { ...common, unit: 'seconds', edges: EDGES })
  const counters = LABELS.map((labels) => rx.bind(labels))
  const gauges = LABELS.map((labels) => temperature.bind(labels))
  const histograms = LABELS.map((labels) => wait.bind(labels))
  return {
    name: 'bound handle',
    times: 2_000_000,
    add(times) {
      for (let i = 0, at = 0; i < times; i++, at = at === SERIES - 1 ? 0 : at + 1) counters[at]?.add(1500)
    },
    set(times) {
      for (let i = 0, at = 0; i < times; i++, at = at === SERIES - 1 ? 0 : at + 1) gauges[at]?.set(i)
    },
    observe(times) {
      for (let i = 0, at = 0; i < times; i++, at = at === SERIES - 1 ? 0 : at + 1)
        histograms[at]?.observe(WAITS[i & 1023] ?? 0)
    },
  }
}

function promClientMetrics() {
  const common = { help: 'A metric', labelNames: LABEL_NAMES, registers: [new Registry()] }
  const rx = new Counter({ name: 'bench_rx_bytes_total', ...common })
  const temperature = new Gauge({ name: 'bench_temperature_celsius', ...common })
  const wait = new Histogram({ name: 'bench_wait_seconds', ...common, buckets: EDGES })
  return { rx, temperature, wait }
}

/** prom-client as its documentation shows it: labels at every update. */
export function promClientLabels(): Contender {
  const { rx, temperature, wait } = promClientMetrics()
  return {
    name: 'prom-client, labels',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) rx.inc(LABELS[i % SERIES] ?? {}, 1500)
    },
    set(times) {
      for (let i = 0; i < times; i++) temperature.set(LABELS[i % SERIES] ?? {}, i)
    },
    observe(times) {
      for (let i = 0; i < times; i++) wait.observe(LABELS[i % SERIES] ?? {}, WAITS[i & 1023] ?? 0)
    },
  }
}

/** prom-client with a child bound once for each series. */
export function promClientChildren(): Contender {
  const { rx, temperature, wait } = promClientMetrics()
  const counters = LABELS.map((labels) => rx.labels(labels))
  const gauges = LABELS.map((labels) => temperature.labels(labels))
  const histograms = LABELS.map((labels) => wait.labels(labels))
  return {
    name: 'prom-client, bound child',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) counters[i % SERIES]?.inc(1500)
    },
    set(times) {
      for (let i = 0; i < times; i++) gauges[i % SERIES]?.set(i)
    },
    observe(times) {
      for (let i = 0; i < times; i++) histograms[i % SERIES]?.observe(WAITS[i & 1023] ?? 0)
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
  const wait = meter.createHistogram('bench_wait_seconds', { advice: { explicitBucketBoundaries: EDGES } })
  return {
    name: '@opentelemetry/sdk-metrics',
    times: 100_000,
    add(times) {
      for (let i = 0; i < times; i++) rx.add(1500, LABELS[i % SERIES])
    },
    set(times) {
      for (let i = 0; i < times; i++) temperature.record(i, LABELS[i % SERIES])
    },
    observe(times) {
      for (let i = 0; i < times; i++) wait.record(WAITS[i & 1023] ?? 0, LABELS[i % SERIES])
    },
  }
}
