import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { counter, defineType, label, metricsHandler } from '../../index.ts'

const port = defineType('port', 'A port', { device: label(), rx_bytes_total: counter('u64', { unit: 'bytes' }) })

async function serve(context: TestContext, rig: PrometheusRig): Promise<string> {
  const server = createServer(metricsHandler(rig.view)).listen(0, '127.0.0.1')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return `http://127.0.0.1:${address.port}/metrics`
}

test('a server answers 200 from the first moment, in either format', async (context) => {
  const url = await serve(context, new PrometheusRig())
  const text = await fetch(url)
  assert.deepEqual([text.status, await text.text()], [200, ''])
  assert.equal(text.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const open = await fetch(url, { headers: { accept: 'application/openmetrics-text;version=1.0.0' } })
  assert.deepEqual([open.status, await open.text()], [200, '# EOF\n'])
  assert.equal(open.headers.get('content-type'), 'application/openmetrics-text; version=1.0.0; charset=utf-8')
})

test('HEAD tells length and type without a body; other methods are refused', async (context) => {
  const rig = new PrometheusRig()
  const url = await serve(context, rig)
  rig.report(rig.source(), port, { device: 'eth0', rx_bytes_total: 1 })
  const head = await fetch(url, { method: 'HEAD' })
  assert.equal(Number(head.headers.get('content-length')), (await rig.bytes('text')).length)
  assert.equal(await head.text(), '')
  const post = await fetch(url, { method: 'POST' })
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
})

test('a client that reads slowly gets the text of the moment at which it asked', async (context) => {
  const rig = new PrometheusRig()
  const url = await serve(context, rig)
  const source = rig.source()
  const report = (value: number) => {
    // Some 12 MB: more than the kernel keeps between the two ends.
    const long = 'x'.repeat(250)
    const records = Array.from({ length: 40_000 }, (_, i) => ({ device: `${long}${i}`, rx_bytes_total: value + i }))
    rig.report(source, port, ...records)
  }
  report(1_000_000)
  const wanted = await rig.bytes('text')
  const request = get(url, { headers: { 'accept-encoding': 'identity' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  for (let i = 2; i < 6; i++) {
    report(i * 1_000_000)
    await rig.bytes('text')
  }
  assert.ok((await buffer(response)).equals(wanted))
})

test('gzip is sent to who takes it', async (context) => {
  const rig = new PrometheusRig()
  const url = await serve(context, rig)
  const records = Array.from({ length: 100 }, (_, i) => ({ device: `device-${i}`, rx_bytes_total: i }))
  rig.report(rig.source(), port, ...records)
  const request = get(url, { headers: { 'accept-encoding': 'gzip' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  assert.deepEqual([response.headers['content-encoding'], response.headers.vary], ['gzip', 'Accept, Accept-Encoding'])
  assert.ok(gunzipSync(await buffer(response)).equals(await rig.bytes('text')))
})
