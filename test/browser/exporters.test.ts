// The page of an app over a Prometheus that scrapes exporters, and no agent.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setUpWeb } from '../../scripts/setup.mjs'
import { needs } from '../debian.ts'
import { startPrometheus } from '../interop/prometheus-peer.ts'
import { startSonde } from '../sonde-process.ts'
import { SHOW_LIMIT_MS, startBrowser, takePicture } from './browser.ts'

const FIXTURE = new URL('../../packages/agent/src/sources/dcgm-exporter/fixtures/kubernetes.txt', import.meta.url)

test(
  'over exporters alone the page of an app has its charts',
  needs('prometheus', 'chromium-headless-shell'),
  async (t) => {
    if (!(await setUpWeb())) assert.fail('the page could not be built')
    const body = readFileSync(FIXTURE, 'utf8')
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(body),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const prometheus = await startPrometheus(t, target, 1, { node: '/metrics' }, { honorLabels: true })
    const console = await startSonde(['console', '--prometheus', prometheus.address, '--log-level', 'error'])
    t.after(() => console.stop())
    const browser = await startBrowser()
    t.after(() => browser.close())
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
    await page.goto(`${console.address}/apps/llama/gpu`)
    for (const name of ['Utilisation', 'Memory used', 'Power'])
      await page
        .getByRole('region', { name, exact: true })
        .locator('canvas')
        .first()
        .waitFor({ timeout: SHOW_LIMIT_MS })
    await takePicture(t, page, 'app-over-exporters')
    await page.goto(`${console.address}/`)
    await page
      .getByText('The Prometheus behind this page has no node that runs Sonde.')
      .waitFor({ timeout: SHOW_LIMIT_MS })
  },
)
