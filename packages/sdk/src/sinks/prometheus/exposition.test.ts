import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { defineType, gauge, label } from '../../index.ts'

const load = defineType('load', 'A load', { device: label(), ratio: gauge('f64') })
const records = (count: number, value: number) =>
  Array.from({ length: count }, (_, i) => ({ device: `device-number-${i}`, ratio: value }))

async function shownValue(rig: PrometheusRig): Promise<string | undefined> {
  return (await rig.lines())[0]?.split(' ')[1]
}

test('a value that changed is written over the old one, in the same memory', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, load, ...records(1000, 0.25))
  const before = await rig.view.collect()
  const chunks = [...(await before.chunks('text'))]
  before.release()
  rig.report(source, load, ...records(1, 0.75))
  const after = await rig.view.collect()
  assert.deepEqual(
    (await after.chunks('text')).map((chunk) => chunks.includes(chunk)),
    chunks.map((_, i) => i > 0),
    'all pages are the old memory; only what is put together with the header is new',
  )
  assert.match(Buffer.concat(await after.chunks('text')).toString(), /device="device-number-0"\} 0\.75\n/)
})

test('bytes that someone holds do not change, whatever is reported meanwhile', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, load, ...records(1000, 0.25))
  const held = await rig.view.collect()
  const copy = Buffer.concat(await held.chunks('openmetrics'))
  for (const value of [0.5, 123.5, Number.NaN, 1]) {
    rig.report(source, load, ...records(1000, value))
    await rig.lines()
  }
  assert.ok(Buffer.concat(await held.chunks('openmetrics')).equals(copy))
  held.release()
})

test('NaN, infinities and values that need more room are shown, and so is what follows them', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const values = [1, 0.1 + 0.2, Number.NaN, 2, Infinity, -Infinity, -0.5, 5e-324, 1.7976931348623157e308, 0]
  for (const value of values) {
    rig.report(source, load, ...records(1, value))
    const shown = (await shownValue(rig)) ?? ''
    assert.ok(Object.is(Number(shown.replace('Inf', 'Infinity')), value), `${value} is shown as ${shown}`)
  }
})

test('text is made and compressed once for all who ask at the same time, and while nothing changes', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, load, ...records(5000, 0.25))
  const gzip = { accept: 'application/openmetrics-text', acceptEncoding: 'gzip' }
  const scrapes = await Promise.all([rig.view.render(gzip), rig.view.render(gzip), rig.view.render(gzip)])
  scrapes.push(await rig.view.render(gzip))
  for (const { chunks } of scrapes) assert.equal(chunks[0], scrapes[0]?.chunks[0])
  const [first] = scrapes
  assert.equal(first?.contentEncoding, 'gzip')
  assert.ok(gunzipSync(Buffer.concat(first?.chunks ?? [])).equals(await rig.bytes('openmetrics')))
  rig.report(source, load, ...records(5000, 0.25))
  assert.equal((await rig.view.render(gzip)).chunks[0], first?.chunks[0], 'equal values are no change')
  rig.report(source, load, ...records(1, 0.5))
  assert.notEqual((await rig.view.render(gzip)).chunks[0], first?.chunks[0])
})

test('a small text is not compressed', async () => {
  const rig = new PrometheusRig()
  rig.report(rig.source(), load, ...records(1, 0.5))
  assert.equal((await rig.view.render({ acceptEncoding: 'gzip' })).contentEncoding, undefined)
})

test('a collect shows one moment, though records come between its slices', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const count = 20_000
  let value = 0
  let collecting = true
  // New series may wait for a later turn: that is not what this is about.
  rig.report(source, load, ...records(count, value))
  await rig.view.flush()
  const reporting = (async () => {
    for (; collecting; value++) {
      rig.report(source, load, ...records(count, value))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  try {
    for (let i = 0; i < 5; i++) {
      const shown = new Set((await rig.lines()).map((line) => Number(line.split(' ')[1])))
      assert.ok(shown.size <= 1, `values ${[...shown]} in one text`)
    }
  } finally {
    collecting = false
    await reporting
  }
})
