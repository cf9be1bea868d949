import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { anyRecord, anyType } from '../../../test/any-type.ts'
import { property } from '../../../test/helper.ts'
import { type ExposedFamily, parseExposition } from '../../../test/parse-exposition.ts'
import { FORMATS, PrometheusRig } from '../../../test/prometheus-rig.ts'
import { buckets, counter, defineType, gauge, label, optional } from '../../index.ts'
import { createFieldSet, type FieldSet } from '../../internal/index.ts'

const port = defineType('port', 'A port', { device: label(), rx_total: counter('u64'), tx_total: counter('u64') })
const queue = defineType('queue', 'A queue', {
  device: label(),
  depth: optional(gauge('u64', { metric: 'depth' })),
  latency: buckets('u64', [1, 2]),
  latency_sum: gauge('f64'),
})
const ring = defineType('ring', 'A ring', { device: label(), depth: optional(gauge('u64', { metric: 'depth' })) })

function rigOfThree(): PrometheusRig {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, port, { device: 'a', rx_total: 1, tx_total: 2 })
  rig.report(source, queue, { device: 'q', depth: 3, latency: [1, 0, 0], latency_sum: 0.5 })
  rig.report(source, ring, { device: 'r', depth: 4 })
  return rig
}

async function linesOf(rig: PrometheusRig, filter: FieldSet, format: (typeof FORMATS)[number] = 'text') {
  const accept = format === 'text' ? '' : 'application/openmetrics-text'
  const scrape = await rig.view.render({ accept }, filter)
  const text = Buffer.concat(scrape.chunks).toString()
  assert.equal(scrape.bytes, Buffer.byteLength(text))
  scrape.release()
  return text.split('\n').filter((line) => line !== '')
}

const namesIn = (lines: readonly string[]) =>
  lines.filter((line) => !line.startsWith('#')).map((line) => line.split(' ')[0])

test('a filter by metric shows whole families, with their headers and nothing of the others', async () => {
  const lines = await linesOf(rigOfThree(), createFieldSet('cset', '^port_rx', 'a'))
  assert.deepEqual(lines, [
    '# HELP port_rx_total A port: rx_total',
    '# TYPE port_rx_total counter',
    'port_rx_total{device="a"} 1',
  ])
})

test('a filter by type shows the lines of that type only, also of a metric that two types fill', async () => {
  const rig = rigOfThree()
  assert.deepEqual(namesIn(await linesOf(rig, createFieldSet('fset', '[ring]', 'a'))), ['depth{device="r"}'])
  assert.deepEqual(namesIn(await linesOf(rig, createFieldSet('fset', '[queue]\n^latency$', 'a'))), [
    ...['1.0', '2.0', '+Inf'].map((edge) => `queue_latency_bucket{device="q",le="${edge}"}`),
    'queue_latency_count{device="q"}',
    'queue_latency_sum{device="q"}',
  ])
})

test('a filter that nothing passes gives an empty page, which OpenMetrics ends with EOF', async () => {
  const none = createFieldSet('cset', '^$', 'a')
  assert.deepEqual(await linesOf(rigOfThree(), none), [])
  assert.deepEqual(await linesOf(rigOfThree(), none, 'openmetrics'), ['# EOF'])
})

test('a filter that everything passes gives the whole page, in both formats', async () => {
  const rig = rigOfThree()
  for (const format of FORMATS) {
    const whole = (await rig.page(format)).split('\n').filter((line) => line !== '')
    assert.deepEqual(await linesOf(rig, createFieldSet('cset', '', 'a'), format), whole)
  }
})

test('a part of the page is the memory of the page, put together and compressed once', async () => {
  const rig = new PrometheusRig()
  const records = Array.from({ length: 2000 }, (_, i) => ({ device: `device-number-${i}`, rx_total: i, tx_total: i }))
  rig.report(rig.source(), port, ...records)
  const filter = createFieldSet('cset', 'rx', 'a')
  const whole = await rig.view.collect()
  const part = whole.only(filter)
  assert.equal(whole.only(filter), part)
  const all = await whole.chunks('text')
  const pages = (await part.chunks('text')).filter((chunk) => all.includes(chunk))
  assert.ok(pages.length >= 7, `${pages.length} pages are shared`)
  const [one, two] = await Promise.all([part.gzipped('text'), part.gzipped('text')])
  assert.equal(one, two)
  assert.equal(gunzipSync(Buffer.concat(one)).toString(), Buffer.concat(await part.chunks('text')).toString())
  whole.release()
})

test('a filtered page does not change while it is held, and follows once it is released', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const filter = createFieldSet('cset', 'rx', 'a')
  rig.report(source, port, { device: 'a', rx_total: 1, tx_total: 1 })
  const held = await rig.view.render({}, filter)
  for (const value of [2, 3, 4]) {
    rig.report(source, port, { device: 'a', rx_total: value, tx_total: value })
    await rig.lines()
  }
  assert.match(Buffer.concat(held.chunks).toString(), /port_rx_total\{device="a"\} 1\n/)
  held.release()
  held.release()
  assert.deepEqual((await linesOf(rig, filter)).slice(2), ['port_rx_total{device="a"} 4'])
})

const PARTS = ['any0', 'any1_', 'f1', 'f2', 'f3', 'f', '_', '.', 'g1', '^any', '$']

property(
  'a filtered page has the samples of the whole page whose fields pass, and nothing else, in both formats',
  100,
  async (random) => {
    const rig = new PrometheusRig()
    const types = [anyType(random)]
    const other = anyType(random)
    // Two of one name might refuse one another's metrics.
    if (other.name !== types[0]?.name) types.push(other)
    for (const type of types) rig.report(rig.source(), type, anyRecord(random, type, rig.nowMs))
    const token = () => random.pick(PARTS).replace(/^\$$/, '^any0_f1$')
    const lines = Array.from(
      { length: random.integer(0, 3) },
      () => `${token()}${random.pick(['', '+_', '-f2', '-x'])}`,
    )
    const kind = random.pick(['cset', 'fset'] as const)
    const sections = random.pick(['[any0]', '[any*]', '[any1]\n[any0]', ''])
    const text = kind === 'cset' ? lines.join('\n') : sections === '' ? '' : `${sections}\n${lines.join('\n')}`
    const filter = createFieldSet(kind, text, 'random')
    const passing = new Set(
      types.flatMap((type) => filter.of(type).slots.flatMap(({ name }) => type.metrics.get(name) ?? [])),
    )
    for (const format of FORMATS) {
      const scrape = await rig.view.render({ accept: format === 'text' ? '' : 'application/openmetrics-text' }, filter)
      const part = parseExposition(Buffer.concat(scrape.chunks), format)
      scrape.release()
      const isPassing = ({ name }: ExposedFamily) => passing.has(name) || passing.has(`${name}_total`)
      const wanted = [...(await rig.families(format)).values()].filter(isPassing)
      assert.deepEqual([...part.values()], wanted, JSON.stringify(text))
    }
  },
)
