import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type {
  AppGpuAnswer,
  AuditAnswer,
  ParamsAnswer,
  ScraperAnswer,
  ScraperState,
  TroubleshootingAnswer,
} from '@sonde/sdk/api'
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
  const { sonde, exporter, dir, shared, post, set, scraperUntil } = await bringUp(t)
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

  await t.test('caps count from the next request on', async () => {
    const metrics = '/api/v1/apps/llama/metrics-by-service?services=chat,train'
    assert.equal((await fetch(sonde.address + metrics)).status, 200)
    await set({ gpu_metrics_max_pods: '1' })
    const refused = await fetch(sonde.address + metrics)
    assert.deepEqual([refused.status, /APP_CAP/.test(await refused.text())], [400, true])
    await set({ gpu_metrics_max_pods: '', gpu_metrics_max_concurrent: '1' })
    const crowd = async (): Promise<number[]> =>
      Promise.all(Array.from({ length: 16 }, async () => (await fetch(sonde.address + metrics)).status))
    // Answers take milliseconds, so two of them meet in most crowds.
    const statuses = await until('one too many at a time', LIMIT_MS, async () => {
      const met = await crowd()
      return met.includes(503) && met
    })
    assert.ok(statuses.includes(200), 'the others are answered')
    await set({ gpu_metrics_max_concurrent: '' })
  })

  await t.test('parameters of charts are stored, say so, and are rendered', async () => {
    const values = {
      ...{ gpu_observability_enable: 'true', nvidia_device_plugin_enable: 'true', keda_enable: 'true' },
      ...{ nvidia_device_time_slicing_replicas: '4', dcgm_scrape_interval: '45s' },
      ...{ gpu_observability_chart_version: '4.7.9', prometheus_gpu_metrics_chart_version: '27.8.1' },
      prometheus_gpu_metrics_retention: '3d',
    }
    const { status, text } = await set(values)
    assert.equal(status, 200, text)
    const { params } = JSON.parse(text) as ParamsAnswer
    for (const name of Object.keys(values)) assert.equal(params.find((one) => one.name === name)?.effect, 'render')
    const { output } = await runSonde(['manifests', 'gpu-stack', ...shared])
    for (const shown of ['replicas: 4', '=45000', '45s', '4.7.9', '27.8.1', 'retention: 3d', 'kedacore'])
      assert.ok(output.includes(shown), `${shown} in ${output}`)
    assert.equal((await post('/api/v1/params/undo')).status, 200)
    const { output: none } = await runSonde(['manifests', 'gpu-stack', ...shared])
    assert.match(none, /GPU observability is not enabled/)
  })

  await t.test('a scraper that is off at the start asks nobody; two servers share the file', async (t) => {
    await set({ gpu_scraper_enable: 'false' })
    await scraperUntil('disabled')
    const before = exporter.requests
    const other = await startSonde(['agent', '--log-level', 'error', ...shared])
    t.after(() => other.stop())
    await until('it is off', LIMIT_MS, async () => {
      return (await ask<ScraperAnswer>(other, '/api/v1/scraper')).state === 'disabled'
    })
    assert.equal(exporter.requests, before)
    // Both change at once: neither loses the change of the other.
    const { version } = await ask<ParamsAnswer>(sonde, '/api/v1/params')
    const change = (to: typeof sonde, name: string, value: string) =>
      ask<ParamsAnswer>(to, '/api/v1/params', { values: { [name]: value } })
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4'].map((value) => change(sonde, 'grafana_dashboard_var_app', value)),
      ...['r1', 'r2', 'r3', 'r4'].map((value) => change(other, 'grafana_dashboard_var_rack', value)),
    ])
    const answers = await Promise.all([sonde, other].map((one) => ask<ParamsAnswer>(one, '/api/v1/params')))
    const [first, second] = answers
    assert.equal(first?.version, version + 8)
    assert.deepEqual(first?.history, second?.history)
    // A change at one shows in what the other does.
    await change(other, 'gpu_scraper_enable', 'true')
    await scraperUntil('enabled')
  })

  await t.test('a damaged file is named, refuses changes, and the last good values hold', async () => {
    const file = join(dir, 'params.json')
    const good = readFileSync(file)
    writeFileSync(file, '{"values": ')
    const { fault, params } = await until('the fault', LIMIT_MS, async () => {
      const answer = await ask<ParamsAnswer>(sonde, '/api/v1/params')
      return answer.fault !== '' && answer
    })
    assert.match(fault, /params\.json cannot be used: it is no JSON/)
    assert.equal(params.find(({ name }) => name === 'grafana_dashboard_var_app')?.origin, 'set')
    const { status, text } = await set({ gpu_metrics_max_pods: '5' })
    assert.deepEqual([status >= 400, /STA_DAMAGED/.test(text)], [true, true], text)
    const { hops } = await ask<TroubleshootingAnswer>(sonde, '/api/v1/troubleshooting')
    assert.equal(hops.find(({ name }) => name === 'Parameters')?.state, 'broken')
    writeFileSync(file, good)
    await until('no fault', LIMIT_MS, async () => (await ask<ParamsAnswer>(sonde, '/api/v1/params')).fault === '')
  })

  await t.test('troubleshooting judges each hop, and its commands follow the reader', async () => {
    const look = (query: string) => ask<TroubleshootingAnswer>(sonde, `/api/v1/troubleshooting${query}`)
    const { exporter: install, program } = await look('')
    assert.deepEqual([install, program], ['helm', 'agent'])
    // Pods are known a moment after the exporter has answered again.
    const wanted = 'Driver unknown, Device plugin ok, Exporter ok, Scrape ok, Labels ok, Parameters ok, Webhooks off'
    let last = ''
    await until(
      () => `the hops are ${wanted}; they are ${last}`,
      LIMIT_MS,
      async () => {
        const { hops } = await look('')
        last = hops.map(({ name, state }) => `${name} ${state}`).join(', ')
        return last === wanted
      },
    )
    const commands = async (query: string) => (await look(query)).hops.flatMap((hop) => hop.commands).join('\n')
    assert.match(await commands('?exporter=helm'), /-l app\.kubernetes\.io\/name=dcgm-exporter/)
    assert.match(await commands('?exporter=operator'), /-l app=nvidia-dcgm-exporter/)
    assert.doesNotMatch(await commands('?exporter=none'), /dcgm-exporter/)
    assert.match(await commands('?program=ps'), /sonde ps --prometheus/)
    assert.equal((await fetch(`${sonde.address}/api/v1/troubleshooting?exporter=apt`)).status, 400)
    exporter.isBusy = true
    const { finding } = await until('a broken hop', LIMIT_MS, async () => {
      return (await look('')).hops.find(({ name, state }) => name === 'Exporter' && state === 'broken')
    })
    assert.match(finding, /answers 503/)
  })
})
