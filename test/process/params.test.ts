import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AppGpuAnswer, AuditAnswer, ParamsAnswer, ScraperAnswer, ScraperState } from '@sonde/sdk/api'
import { nodeBody } from '../../packages/agent/src/sources/scraping/test-exporter.ts'
import { ask } from '../ask.ts'
import { runSonde, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000

/** An exporter of a node, whose answers may be held back. */
async function serveExporter(t: TestContext) {
  const held: ServerResponse[] = []
  const exporter = { address: '', requests: 0, isHolding: false, isBusy: false, held }
  const server = createServer((_, response) => {
    exporter.requests++
    if (exporter.isHolding) return void held.push(response)
    if (exporter.isBusy) return void response.writeHead(503).end('busy')
    response.end(nodeBody('gpu-node-a', 'llama-0'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  exporter.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`
  return exporter
}

/** A whole agent over an exporter, with the page's routes. */
async function bringUp(t: TestContext) {
  const exporter = await serveExporter(t)
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const config = join(dir.path, 'sonde.yaml')
  const source = { type: 'dcgm_exporter', interval_ms: 1000, timeout_ms: 30_000, addresses: [exporter.address] }
  writeFileSync(config, JSON.stringify({ data_sources: [source] }))
  const shared = ['--config', config, '--data-dir', dir.path]
  const sonde = await startSonde(['up', '--log-level', 'error', ...shared])
  t.after(() => sonde.stop())
  const post = async (path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(sonde.address + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, text: await answer.text() }
  }
  const set = (values: Readonly<Record<string, string>>) => post('/api/v1/params', { values })
  const scraperUntil = (state: ScraperState) => {
    let last = ''
    return until(
      () => `the scraper is ${state}; it is ${last}`,
      LIMIT_MS,
      async () => {
        const answer = await ask<ScraperAnswer>(sonde, '/api/v1/scraper')
        last = JSON.stringify(answer)
        return answer.state === state && answer
      },
    )
  }
  return { sonde, exporter, dir: dir.path, shared, post, set, scraperUntil }
}

test('parameters over HTTP, on a server with an exporter', async (t) => {
  const { sonde, exporter, shared, post, set, scraperUntil } = await bringUp(t)
  const llama = () => ask<AppGpuAnswer>(sonde, '/api/v1/apps/llama/gpu')

  await t.test('the scraper reads, stops and reads again; each state is what it reports', async () => {
    const enabled = await scraperUntil('enabled')
    assert.deepEqual([enabled.isOn, enabled.locked, enabled.scrapers.length], [true, '', 1])
    await until('numbers', LIMIT_MS, async () => (await llama()).state === 'ready')
    assert.equal((await set({ gpu_scraper_enable: 'false' })).status, 200)
    const disabled = await scraperUntil('disabled')
    assert.deepEqual([disabled.isOn, disabled.locked], [false, ''])
    const before = exporter.requests
    const { summary, advice } = await until('the app has no numbers', LIMIT_MS, async () => {
      const answer = await llama()
      return answer.state === 'disabled' && answer
    })
    assert.match(summary, /scraper is switched off/)
    assert.match(advice[0] ?? '', /params set gpu_scraper_enable=true$/)
    // The command does the same; an answer that is held back keeps the state where it is.
    exporter.isHolding = true
    const { code, output } = await runSonde(['params', 'set', 'gpu_scraper_enable=true', ...shared])
    assert.equal(code, 0, output)
    await until('the exporter is asked', LIMIT_MS, () => exporter.requests > before)
    const enabling = await scraperUntil('enabling')
    assert.match(enabling.summary, /has not found an exporter yet/)
    exporter.isHolding = false
    for (const response of exporter.held.splice(0)) response.end(nodeBody('gpu-node-a', 'llama-0'))
    await scraperUntil('enabled')
    await until('numbers again', LIMIT_MS, async () => (await llama()).state === 'ready')
  })

  await t.test('an exporter that fails is an error, and a reset asks it again at once', async () => {
    exporter.isBusy = true
    const { summary, locked } = await scraperUntil('error')
    assert.match(summary, /answers 503/)
    assert.equal(locked, '', 'it has answered before')
    exporter.isBusy = false
    assert.equal((await post('/api/v1/scraper/reset')).status, 200)
    await scraperUntil('enabled')
    const { entries } = await ask<AuditAnswer>(sonde, '/api/v1/audit')
    assert.deepEqual(entries.map(({ action, what, after }) => [action, what, after]).slice(0, 3), [
      ['scraper.reset', 'gpu_scraper_enable', undefined],
      ['params.set', 'gpu_scraper_enable', 'true'],
      ['params.set', 'gpu_scraper_enable', 'false'],
    ])
  })

  await t.test('a scraper that is off at the start asks nobody', async (t) => {
    await set({ gpu_scraper_enable: 'false' })
    await scraperUntil('disabled')
    const before = exporter.requests
    const other = await startSonde(['agent', '--log-level', 'error', ...shared])
    t.after(() => other.stop())
    await until('it is off', LIMIT_MS, async () => {
      return (await ask<ScraperAnswer>(other, '/api/v1/scraper')).state === 'disabled'
    })
    assert.equal(exporter.requests, before)
    const { params } = await ask<ParamsAnswer>(other, '/api/v1/params')
    assert.equal(params.find(({ name }) => name === 'gpu_scraper_enable')?.value, 'false')
  })
})
