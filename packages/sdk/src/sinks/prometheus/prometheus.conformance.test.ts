import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testSink } from '../../../test/test-sink.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { metricsHandler } from './handler.ts'
import { openPrometheus } from './listener.ts'
import { createPrometheus } from './prometheus.ts'

const ESCAPED: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

async function valuesAt(address: string, type: RecordType, field: string): Promise<Map<string, bigint>> {
  // One connection a scrape: an idle one would keep the server from closing.
  const answer = await fetch(`${address}/metrics`, { headers: { connection: 'close' } })
  const line = new RegExp(`^${type.metrics.get(field)}\\{.*?device="((?:[^"\\\\]|\\\\.)*)".*\\} (\\S+)$`, 'gm')
  const found = [...(await answer.text()).matchAll(line)].map(([, device = '', value = '']): [string, bigint] => [
    device.replace(/\\./g, (pair) => ESCAPED[pair] ?? pair),
    BigInt(value),
  ])
  return new Map(found)
}

testSink('prometheus', 'view', async (t) => {
  const sink = createPrometheus()
  const server = createServer(metricsHandler(sink))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { sink, read: (type, field) => valuesAt(`http://127.0.0.1:${port}`, type, field) }
})

testSink('prometheus behind its own listener', 'view', async (t) => {
  const sink = await openPrometheus({ endpoint: '127.0.0.1:0' }, {})
  assert.ok(sink !== undefined)
  t.after(() => sink.close())
  return { sink, read: (type, field) => valuesAt(sink.address, type, field) }
})
