// What OTLP receivers get, decoded by `protoc` with a schema from the specification.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type HrTime, ValueType } from '@opentelemetry/api'
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics'
import { type Batch, buckets, counter, defineType, gauge, label, timestamp } from '@sonde/sdk'
import { createOtlp } from '../../packages/sdk/src/sinks/otlp/otlp.ts'
import { readFiles } from '../../packages/sdk/test/files-rig.ts'
import { attributesOf, decodeLogs } from '../../packages/sdk/test/otlp-messages.ts'
import { OtlpReceiver } from '../../packages/sdk/test/otlp-receiver.ts'
import { BatchSource } from '../../packages/sdk/test/sink-records.ts'
import { needs } from '../debian.ts'
import { assertStops, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { decodeWithProtoc, type TextMessage } from './protoc.ts'

const LIMIT_MS = 60_000
const SCHEMA = new URL('../../packages/sdk/test/otlp.proto', import.meta.url)

test(
  'an agent with a simulated node sends each value of each record to an OTLP receiver',
  needs('protoc'),
  async (t) => {
    const receiver = await OtlpReceiver.start(t)
    const { path, remove } = temporaryDir()
    t.after(remove)
    const config = join(path, 'sonde.yaml')
    const settings = {
      store: { enabled: false },
      export: {
        otlp: { url: receiver.url, sources: ['!self'], compression: 'gzip' },
        files: { data_root: join(path, 'records'), sources: ['!self'] },
      },
    }
    writeFileSync(config, JSON.stringify(settings))
    const sonde = await startSonde(['up', '--simulate', '--config', config])
    t.after(() => sonde.stop('SIGKILL'))
    // The name of a scope is in the bytes as it is. The receiver lives in this process: decoding would slow it down.
    await until('ports and GPUs are there', LIMIT_MS, () =>
      ['ethtool_port', 'nvml_'].every((name) => receiver.taken('metrics').some((body) => body.includes(name))),
    )
    await assertStops(sonde)

    const received = receiver.taken('metrics').flatMap((body) => valuesIn(body))
    const sent = readFiles(join(path, 'records')).flatMap(({ batches }) => batches.flatMap(valuesOf))
    assert.ok(sent.length > 1000, `${sent.length} values`)
    const [there, here] = [counted(received), counted(sent)]
    const other = [...new Set([...there.keys(), ...here.keys()])].filter((key) => there.get(key) !== here.get(key))
    const shown = other.slice(0, 10).map((key) => `${key}: sent ${here.get(key) ?? 0}, received ${there.get(key) ?? 0}`)
    assert.equal(other.length, 0, shown.join('\n'))
  },
)

const PROGRAM = `
  import { createSchema, defineType, gauge, label, reportLog, timestamp, wallNs } from '@sonde/sdk'
  const schema = createSchema({ name: 'trainer', export: { otlp: {} } })
  const step = schema.addType(defineType('step', 'A step', { time: timestamp(), rank: label(), loss: gauge('f64') }))
  await schema.start()
  const source = schema.createSource({ id: 'rank0', tag: 'training' })
  source.report(step, { time: wallNs(), rank: '0', loss: 0.5 })
  reportLog(source, { body: 'ready' })
  await schema.flush()
  await schema.close()`

test('a program takes address, headers, form and resource from the variables of OpenTelemetry', async (t) => {
  const [receiver, logs] = [await OtlpReceiver.start(t), await OtlpReceiver.start(t)]
  const env = {
    ...process.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base`,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${logs.url}/in`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=team%20a',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_SERVICE_NAME: 'named',
  }
  await promisify(execFile)(process.execPath, [...'--conditions=source --input-type=module -e'.split(' '), PROGRAM], {
    ...{ env, cwd: import.meta.dirname, timeout: LIMIT_MS },
  })
  const [metrics] = receiver.requests
  const { path, headers } = metrics ?? {}
  assert.deepEqual(
    [path, headers?.['content-type'], headers?.['content-encoding'], headers?.['x-scope']],
    ['/base/v1/metrics', 'application/json', 'gzip', 'team a'],
  )
  const [{ resource, scopeMetrics }] = JSON.parse(String(metrics?.body)).resourceMetrics
  const attributes = { 'service.name': 'named', 'deployment.environment.name': 'test', 'host.name': hostname() }
  assert.deepEqual(attributesOf(resource.attributes), attributes)
  assert.equal(scopeMetrics[0].metrics[0].gauge.dataPoints[0].asDouble, 0.5)
  const [log, ...others] = logs.requests
  assert.deepEqual([log?.path, log?.headers['content-type'], others], ['/in', 'application/x-protobuf', []])
  assert.deepEqual(decodeLogs(log?.body ?? Buffer.alloc(0)).resourceLogs[0]?.scopeLogs[0]?.logRecords[0]?.body, {
    stringValue: 'ready',
  })
})

test('Sonde and the SDK of OpenTelemetry encode the same points as the same message', needs('protoc'), async (t) => {
  const receiver = await OtlpReceiver.start(t)
  const sink = createOtlp({ url: receiver.url, lingerMs: 0, resource: { 'service.name': 'trainer' } })
  t.after(() => sink.close())
  const type = defineType('step', 'A step', {
    time: timestamp(),
    job: label(),
    tokens_total: counter('u64', { unit: 'bytes', help: 'Tokens' }),
    loss: gauge('f64', { help: 'Loss' }),
    wait: buckets('u32', [0.5, 1], { unit: 'seconds', help: 'Wait' }),
    wait_sum: counter('f64'),
  })
  const seconds = 1_800_000_000
  const records = [0, 1].map((i) => ({
    ...{ time: BigInt(seconds + i) * 10n ** 9n + 7n, job: 'a "µ"', tokens_total: 2 ** 53 - 2 + i, loss: 0.1 + i },
    ...{ wait: [i, 0, 2], wait_sum: 4.5 + i },
  }))
  sink.accept(new BatchSource({ id: 'rank0', tag: 'training' }).batch(type, records))
  await sink.flush()

  const at = (i: number): HrTime => [seconds + i, 7]
  const points = <T>(numberOf: (record: (typeof records)[0]) => T) =>
    records.map((record, i) => {
      return { startTime: at(0), endTime: at(i), attributes: { job: record.job }, value: numberOf(record) }
    })
  const descriptor = (name: string, description: string, unit: string, valueType: ValueType) =>
    ({ name: `step_${name}`, description, unit, valueType, advice: {} }) as MetricData['descriptor']
  const cumulative = { aggregationTemporality: AggregationTemporality.CUMULATIVE }
  const metrics = [
    {
      ...{ ...cumulative, descriptor: descriptor('tokens_total', 'Tokens', 'By', ValueType.INT) },
      ...{ dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points((each) => each.tokens_total) },
    },
    {
      ...{ ...cumulative, descriptor: descriptor('loss', 'Loss', '', ValueType.DOUBLE) },
      ...{ dataPointType: DataPointType.GAUGE, dataPoints: points((each) => each.loss) },
    },
    {
      ...{ ...cumulative, descriptor: descriptor('wait', 'Wait', 's', ValueType.DOUBLE) },
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: points(({ wait, wait_sum }) => {
        const count = wait.reduce((sum, bin) => sum + bin, 0)
        return { buckets: { boundaries: [0.5, 1], counts: wait }, sum: wait_sum, count }
      }),
    },
  ] as unknown as MetricData[]
  const scope = { name: 'step', attributes: { 'sonde.source': 'rank0', 'sonde.source_tag': 'training' } }
  const resource = resourceFromAttributes({ 'host.name': hostname(), 'service.name': 'trainer' })
  const theirs = ProtobufMetricsSerializer.serializeRequest({ resource, scopeMetrics: [{ scope, metrics }] })
  const decoded = [receiver.taken('metrics')[0], theirs].map((bytes) =>
    decodeWithProtoc(SCHEMA, 'otlp.ExportMetricsServiceRequest', bytes ?? new Uint8Array()),
  )
  // A gauge has no start in Sonde.
  for (const point of inner(inner(metricsIn(decoded[1]!), 'gauge'), 'data_points'))
    Reflect.deleteProperty(point, 'start_time_unix_nano')
  assert.deepEqual(metricsIn(decoded[0]!), metricsIn(decoded[1]!))
  assert.deepEqual(decoded[0]?.resource_metrics?.length, 1)
})

function metricsIn(request: TextMessage): TextMessage[] {
  return inner(inner(inner([request], 'resource_metrics'), 'scope_metrics'), 'metrics')
}

type Value = readonly [metric: string, device: string, time: string, value: string]

/** How often each value is there. */
function counted(values: readonly Value[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of values.map((value) => value.join(' ')).sort()) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** The numbers in a request, as `protoc` reads them; it shows no count of 0. */
function valuesIn(body: Uint8Array): Value[] {
  const request = decodeWithProtoc(SCHEMA, 'otlp.ExportMetricsServiceRequest', body)
  const metrics = inner(inner(inner([request], 'resource_metrics'), 'scope_metrics'), 'metrics')
  return metrics.flatMap((metric) => {
    const data = inner(
      [metric],
      metric.sum === undefined ? (metric.gauge === undefined ? 'histogram' : 'gauge') : 'sum',
    )
    // The last point of a series has no value.
    const points = inner(data, 'data_points').filter(({ flags }) => flags === undefined)
    return points.map((point): Value => {
      const [number] = [point.as_int, point.as_double, point.count].find((value) => value !== undefined) ?? ['0']
      return [first(metric.name), labelsOf(point), first(point.time_unix_nano), String(Number(number))]
    })
  })
}

/** The values of the attributes that come from labels, in order. */
function labelsOf(point: TextMessage): string {
  return inner([point], 'attributes')
    .filter(({ key }) => !first(key).startsWith('hw.'))
    .map((attribute) => first(inner([attribute], 'value')[0]?.string_value))
    .sort()
    .join()
}

function first(values: TextMessage[string] | undefined): string {
  return String(values?.[0])
}

function inner(messages: readonly TextMessage[], field: string): TextMessage[] {
  return messages.flatMap((message) => (message[field] ?? []) as TextMessage[])
}

type Record = Readonly<globalThis.Record<string, unknown>>

/** The numbers of a batch that are metrics. */
function valuesOf({ type, source, records }: Batch & { readonly records: readonly Record[] }): Value[] {
  return records.flatMap((record) => {
    const labels = type.labels.map(({ name }) => String(record[name]))
    const time = String(type.time === undefined ? '' : record[type.time.name])
    const shown = new Set<string>()
    return type.layout.slots.flatMap(({ name, field }): Value[] => {
      const metric = type.metrics.get(name)
      const value = name.split('.').reduce<unknown>((at, key) => (at as Record | undefined)?.[key], record)
      const key = JSON.stringify([metric, field.labels])
      if (metric === undefined || value === undefined || shown.has(key)) return []
      shown.add(key)
      const constant = Object.values(field.labels ?? {})
      const all = [...labels, ...constant, ...Object.values(source.labels)].filter((text) => text !== '')
      const isHistogram = field.role === 'bucket'
      const numbers = Array.isArray(value) && isHistogram ? [value.reduce((sum, bin) => sum + Number(bin), 0)] : [value]
      return numbers.flat().map((number) => [metric, [...all].sort().join(), time, String(Number(number))])
    })
  })
}
