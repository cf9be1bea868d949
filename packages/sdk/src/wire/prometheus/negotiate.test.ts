import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { acceptsGzip, negotiateFormat } from './negotiate.ts'

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
const CHROMIUM = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const CASES: readonly (readonly [string | undefined, 'text' | 'openmetrics'])[] = [
  [undefined, 'text'],
  ['', 'text'],
  ['*/*', 'text'],
  [PROMETHEUS_2, 'openmetrics'],
  [PROMETHEUS_3, 'openmetrics'],
  [CHROMIUM, 'text'],
  ['application/openmetrics-text', 'openmetrics'],
  ['application/openmetrics-text;version=1.0.0', 'openmetrics'],
  ['application/openmetrics-text; version="1.0.0"; charset=utf-8', 'openmetrics'],
  ['Application/OpenMetrics-Text; Version=1.0.0', 'openmetrics'],
  ['application/openmetrics-text;version=2.0.0', 'text'],
  ['application/openmetrics-text;version=0.0.1', 'text'],
  ['text/plain;version=0.0.4', 'text'],
  ['text/plain;q=0.5,application/openmetrics-text;q=0.4', 'text'],
  ['text/plain;q=0.4,application/openmetrics-text;q=0.5', 'openmetrics'],
  ['text/plain,application/openmetrics-text', 'text'],
  ['application/openmetrics-text,text/plain', 'openmetrics'],
  ['application/openmetrics-text;q=0,*/*', 'text'],
  ['text/plain;q=0,*/*', 'openmetrics'],
  ['application/json', 'text'],
  ['application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited', 'text'],
  ['application/openmetrics-text;q=nonsense', 'text'],
  ['application/openmetrics-text;q=0', 'text'],
  ['text/plain;q=0', 'text'],
]

for (const [accept, format] of CASES) {
  test(`Accept: ${accept ?? 'none at all'} gives ${format}`, () => assert.equal(negotiateFormat(accept), format))
}

test('gzip is taken where it is named with a q above 0, or by a star that nothing more specific refuses', () => {
  const taken = ['gzip', 'deflate, gzip;q=0.5', 'x-gzip', '*', 'GZIP;Q=0.1', 'br;q=1.0, gzip;q=0.8, *;q=0.1']
  const refused = [undefined, '', 'identity', 'gzip;q=0', '*;q=0', 'gzip;q=0, *', 'gzipped']
  for (const header of taken) assert.equal(acceptsGzip(header), true, header)
  for (const header of refused) assert.equal(acceptsGzip(header), false, header)
})

property('an Accept header of any form gives one of the two formats', 2000, (random) => {
  const parts = [
    'text/plain',
    'application/openmetrics-text',
    '*/*',
    ';',
    ',',
    'q=',
    '0.5',
    'version=',
    '1.0.0',
    '"',
    ' ',
  ]
  const odd = ['=', '\\', '\u{0}', '\u{ff}', '__proto__', 'q=1e400', ';;', ',,', 'q=-1', '/', 'constructor=1']
  const pieces = Array.from({ length: random.integer(0, 40) }, () => random.pick(random.chance(0.8) ? parts : odd))
  const header = pieces.join('')
  assert.ok(['text', 'openmetrics'].includes(negotiateFormat(header)), header)
  assert.equal(typeof acceptsGzip(header), 'boolean', header)
})

property('of two formats with different q, the one with the higher is given', 500, (random) => {
  const [text, openmetrics] = [random.integer(0, 1000) / 1000, random.integer(0, 1000) / 1000]
  const ranges = [`text/plain;version=0.0.4;q=${text}`, `application/openmetrics-text;version=1.0.0;q=${openmetrics}`]
  const header = (random.chance(0.5) ? ranges : ranges.reverse()).join(', ')
  if (text !== openmetrics) assert.equal(negotiateFormat(header), text > openmetrics ? 'text' : 'openmetrics', header)
})
