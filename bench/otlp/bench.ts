// Points encoded as OTLP: a batch of records against the SDK of OpenTelemetry, from what both hold to the bytes.
import { hostname } from 'node:os'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import type { Batch } from '@sonde/sdk'
import { OtlpSeries } from '../../packages/sdk/src/sinks/otlp/otlp-series.ts'
import { Resources } from '../../packages/sdk/src/sinks/otlp/resources.ts'
import { encodeMetrics } from '../../packages/sdk/src/wire/otlp/encode-metrics.ts'
import { decodeMetrics, pointsIn } from '../../packages/sdk/test/otlp-messages.ts'
import { atLeast, type BenchResult, median } from '../bench.ts'
import { counterAt, gaugeAt, LABELS, ourLoad, SERIES } from '../exposition/load.ts'

const WARM_UP_ROUNDS = 5
const GATE = 5

class Reader extends MetricReader {
  protected onShutdown = (): Promise<void> => Promise.resolve()
  protected onForceFlush = (): Promise<void> => Promise.resolve()
}

/** Encodes every series once. Returns the bytes. */
type Encode = () => Promise<Uint8Array>

/** Sonde: a batch becomes points, and these a request. */
function ours(): { update(step: number): void; encode: Encode } {
  const batches: Batch[] = []
  const load = ourLoad((batch) => batches.push(batch))
  const series = new OtlpSeries('cumulative', new Resources({ 'service.name': 'bench' }, hostname(), ''))
  return {
    update(step) {
      load.update(step, 1)
      load.send()
    },
    async encode() {
      const blocks = batches.splice(0).flatMap((batch) => series.points(batch) ?? [])
      return encodeMetrics(blocks, 'cumulative') ?? new Uint8Array()
    },
  }
}

/** The SDK: its reader collects what the instruments hold, and its transformer makes the request. */
function theirs(): { update(step: number): void; encode: Encode } {
  const reader = new Reader({ cardinalitySelector: () => LABELS.length + 1 })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('bench_queue')
  const attributes = LABELS.map((labels) => ({ ...labels, node: 'hgx-a17' }))
  const counters = Array.from({ length: 12 }, (_, i) =>
    meter.createCounter(`bench_queue_c${i}_bytes_total`, { unit: 'By' }),
  )
  const gauges = Array.from({ length: 12 }, (_, i) => meter.createGauge(`bench_queue_g${i}_celsius`, { unit: 'Cel' }))
  return {
    update(step) {
      for (const [row, of] of attributes.entries()) {
        for (const [i, each] of counters.entries())
          each.add(counterAt(row, i, step) - (step === 0 ? 0 : counterAt(row, i, step - 1)), of)
        for (const [i, each] of gauges.entries()) each.record(gaugeAt(row, i, step), of)
      }
    },
    async encode() {
      const { resourceMetrics } = await reader.collect()
      return ProtobufMetricsSerializer.serializeRequest(resourceMetrics) ?? new Uint8Array()
    },
  }
}

/** Rounds of both in turn: each updates all values, and then encodes them. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const both = [ours(), theirs()] as const
  const perSecond: [number[], number[]] = [[], []]
  const bytes = [0, 0]
  for (let round = -WARM_UP_ROUNDS, step = 0; round < rounds; round++, step++) {
    for (const [index, side] of both.entries()) {
      side.update(step)
      const start = performance.now()
      const body = await side.encode()
      const seconds = (performance.now() - start) / 1000
      const count = pointsIn(decodeMetrics(body)).length
      if (count !== SERIES) throw new Error(`side ${index} has ${count} points in place of ${SERIES}`)
      bytes[index] = body.length
      if (round >= 0) perSecond[index]?.push(SERIES / seconds)
    }
  }
  const [own, peer] = perSecond
  const ratio = median(own.map((each, i) => each / (peer[i] ?? Number.NaN)))
  return {
    figures: [
      { name: 'points a second, Sonde', value: median(own), unit: 'points/s' },
      { name: 'points a second, OpenTelemetry', value: median(peer), unit: 'points/s' },
      { name: 'Sonde to OpenTelemetry', value: ratio, unit: 'x', gate: atLeast(ratio, GATE) },
      { name: 'bytes a point, Sonde', value: (bytes[0] ?? 0) / SERIES, unit: 'bytes a point' },
      { name: 'bytes a point, OpenTelemetry', value: (bytes[1] ?? 0) / SERIES, unit: 'bytes a point' },
    ],
    lines: [
      `${SERIES} series of four attributes, half of them sums; protobuf, not compressed. Both from what they hold to the bytes of the request. Each request is decoded and its points are counted.`,
      '`@opentelemetry/sdk-metrics` 2.12.1 with `@opentelemetry/otlp-transformer` 0.223.1.',
    ],
  }
}
