import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError } from '../../../test/helper.ts'
import type { OtlpOptions } from './config.ts'
import { signalAddress, targetOf } from './signals.ts'

const GENERAL = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://general:4318/base/',
  OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=team%2Ca, api-key = k=1',
  OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
  OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
}

test('variables fill in what options leave open; those of a signal win, and its endpoint is used as it is', () => {
  const own = {
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs/in',
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-scope=logs',
    OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: '',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem',
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: '/node.pem',
    OTEL_EXPORTER_OTLP_CLIENT_KEY: '/node.key',
  }
  const { metrics, logs } = targetOf({}, { ...GENERAL, ...own })
  assert.deepEqual(
    [metrics.http.url, metrics.protocol, metrics.timeoutMs, metrics.http.compression],
    ['http://general:4318/base/v1/metrics', 'http/json', 2000, 'gzip'],
  )
  assert.deepEqual(metrics.http.headers, { 'x-scope': 'team,a', 'api-key': 'k=1' })
  assert.deepEqual(metrics.http.tls, {}, 'certificates are for https')
  assert.deepEqual(
    [logs.http.url, logs.protocol, logs.timeoutMs, logs.http.compression],
    ['https://logs/in', 'http/protobuf', 500, 'gzip'],
  )
  assert.deepEqual(logs.http.headers, { 'x-scope': 'logs' })
  assert.deepEqual(logs.http.tls, { caFile: '/ca.pem', certFile: '/node.pem', keyFile: '/node.key' })
})

test('options win over variables, and defaults are those of the specification', () => {
  const options: OtlpOptions = {
    ...{
      url: 'https://mine/otlp?tenant=a',
      protocol: 'http/protobuf' as const,
      timeoutMs: 100,
      compression: 'none' as const,
    },
    ...{ headers: { a: 'b' }, endpoints: ['https://other'], temporality: 'cumulative' as const },
  }
  const { metrics, logs, temporality } = targetOf(options, {
    ...GENERAL,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs/in',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
  })
  assert.equal(logs.http.url, 'https://mine/otlp/v1/logs?tenant=a')
  assert.deepEqual(
    [metrics.http.endpoints, metrics.http.headers, metrics.protocol, metrics.timeoutMs, metrics.http.compression],
    [['https://other/v1/metrics'], { a: 'b' }, 'http/protobuf', 100, 'none'],
  )
  assert.equal(temporality, 'cumulative')
  const usual = targetOf({}, {})
  assert.deepEqual(
    [usual.metrics.http.url, usual.logs.http.url, usual.temporality, usual.metrics.timeoutMs],
    ['http://127.0.0.1:4318/v1/metrics', 'http://127.0.0.1:4318/v1/logs', 'cumulative', 10_000],
  )
})

test('resource and temporality of variables', () => {
  const { resource, temporality } = targetOf(
    { resource: { 'deployment.environment.name': 'test' } },
    {
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,service.namespace=ml,deployment.environment.name=prod',
      OTEL_SERVICE_NAME: 'b',
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'LowMemory',
    },
  )
  const expected = { 'service.name': 'b', 'service.namespace': 'ml', 'deployment.environment.name': 'test' }
  assert.deepEqual([resource, temporality], [expected, 'delta'])
})

test('a variable that cannot be used ends the start, and no value of a header is shown', () => {
  const refused = (name: string, value: string, part: RegExp) =>
    assert.throws(() => targetOf({}, { [name]: value }), sondeError('DLV_CONNECTION', part))
  refused('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /^protocol is "grpc" in OTEL_EXPORTER_OTLP_PROTOCOL; allowed: http/)
  refused('OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', '1s', /^timeoutMs is "1s" in OTEL_EXPORTER_OTLP_METRICS_TIMEOUT;/)
  refused('OTEL_EXPORTER_OTLP_ENDPOINT', 'general:4318', /^url cannot be read from OTEL_EXPORTER_OTLP_ENDPOINT;/)
  refused(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'hush',
    /^headers cannot be read from OTEL_EXPORTER_OTLP_HEADERS; allowed: name=v/,
  )
  refused('OTEL_EXPORTER_OTLP_HEADERS', 'a=%0Ahush', /^headers cannot be used as OTEL_EXPORTER_OTLP_HEADERS has them;/)
})

test('the path of a signal follows that of the address', () => {
  assert.equal(signalAddress('http://h', 'metrics'), 'http://h/v1/metrics')
  assert.equal(signalAddress('http://h/a//', 'logs'), 'http://h/a/v1/logs')
})
