import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../debian.ts'
import { assertEachGpuOnce, assertSharedText, SHARING_NODES } from '../gpu-sharing.ts'
import { runSonde, startSonde, temporaryDir } from '../sonde-process.ts'
import { startPrometheus } from './prometheus-peer.ts'

async function serveNodes(t: TestContext): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const body = SHARING_NODES[url.slice(1)]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(body?.())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('GPUs that pods share count once: in an agent, over a Prometheus that scrapes it, and over raw exporters', {
  ...needs('prometheus'),
}, async (t) => {
  const exporters = await serveNodes(t)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const config = join(dir.path, 'sonde.yaml')
  const addresses = Object.keys(SHARING_NODES).map((name) => `http://${exporters}/${name}`)
  const source = { type: 'dcgm_exporter', addresses, interval_ms: 1000, collect_interval_ms: 1000 }
  writeFileSync(config, JSON.stringify({ data_sources: [source] }))
  const agent = await startSonde(['up', '--log-level', 'error', '--config', config])
  t.after(() => agent.stop())
  const paths = Object.fromEntries(Object.keys(SHARING_NODES).map((name) => [name, `/${name}`]))
  const [ofAgent, ofExporters] = await Promise.all([
    startPrometheus(t, new URL(agent.address).host, 1),
    startPrometheus(t, exporters, 1, paths),
  ])

  await t.test('an agent', async () => {
    await assertEachGpuOnce(agent)
    assertSharedText((await runSonde(['ps', '--url', agent.address])).output)
  })
  for (const [name, { address }] of [
    ['a Prometheus that scrapes an agent', ofAgent],
    ['a Prometheus that scrapes exporters', ofExporters],
  ] as const) {
    await t.test(name, async (t) => {
      const page = await startSonde(['console', '--prometheus', address, '--log-level', 'error'])
      t.after(() => page.stop())
      await assertEachGpuOnce(page)
      assertSharedText((await runSonde(['ps', '--prometheus', address])).output)
    })
  }
})
