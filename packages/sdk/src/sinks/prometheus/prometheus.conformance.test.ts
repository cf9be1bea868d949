import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testSink } from '../../../test/test-sink.ts'
import { metricsHandler } from './handler.ts'
import { createPrometheus } from './prometheus.ts'

const ESCAPED: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

testSink('prometheus', 'view', async (t) => {
  const sink = createPrometheus()
  const server = createServer(metricsHandler(sink))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    sink,
    async read(type, field) {
      const { port } = server.address() as AddressInfo
      // One connection a scrape: an idle one would keep the server from closing.
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })
      const line = new RegExp(`^${type.metrics.get(field)}\\{.*?device="((?:[^"\\\\]|\\\\.)*)".*\\} (\\S+)$`, 'gm')
      const found = [...(await answer.text()).matchAll(line)].map(([, device = '', value = '']): [string, bigint] => [
        device.replace(/\\./g, (pair) => ESCAPED[pair] ?? pair),
        BigInt(value),
      ])
      return new Map(found)
    },
  }
})
