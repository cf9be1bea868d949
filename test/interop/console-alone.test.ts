import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { needs } from '../debian.ts'
import { assertStops, runSonde, startSonde } from '../sonde-process.ts'
import { freePort, type PeerSample, startBackfilled } from './query-peers.ts'

const START_MS = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 2 * 3_600_000

/** A service of two pods, as an agent records it, and a counter. */
function samples(): PeerSample[] {
  return Array.from({ length: 60 }, (_, i) => i).flatMap((i) => {
    const timeMs = START_MS + i * 15_000 + 3000
    const labels = { app: 'chat', service: 'api' }
    return [
      { metric: 'app_gpu_util_ratio', labels, timeMs, value: i / 100 },
      { metric: 'app_gpu_util_min_ratio', labels, timeMs, value: (i - 1) / 100 },
      { metric: 'app_gpu_util_max_ratio', labels, timeMs, value: (i + 1) / 100 },
      { metric: 'app_gpu_util_pods', labels, timeMs, value: 2 },
      { metric: 'pod_gpus', labels: { ...labels, pod: 'api-0' }, timeMs, value: 1 },
      { metric: 'requests_total', labels, timeMs, value: 30 * i },
    ]
  })
}

/** Passes requests on to a server, and remembers what was asked. */
async function proxyTo(t: TestContext, url: string): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((asked, answer) => {
    seen.push(asked.url ?? '')
    const { hostname, port } = new URL(url)
    const onward = { hostname, port, path: asked.url, method: asked.method, headers: asked.headers }
    asked.pipe(
      send(onward, (response: IncomingMessage) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      }),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const json = async (address: string, path: string) => (await fetch(address + path)).json() as Promise<never>

test('a console serves page, queries and charts of apps over a Prometheus, one round trip each', {
  ...needs('prometheus', 'promtool'),
}, async (t) => {
  const { url, seen } = await proxyTo(t, await startBackfilled(t, samples()))
  const env = { SONDE_CONSOLE_PROMETHEUS_INTERVAL_MS: '15000' }
  const sonde = await startSonde(['console', '--prometheus', url], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const { address } = sonde
  seen.length = 0

  const [from, to] = [START_MS + 60_000, START_MS + 600_000]
  const chart = `/api/v1/apps/chat/services/api/metrics?start=${from}&end=${to}&period=60&fields=gpu-util`
  const charts = await Promise.all<unknown>(Array.from({ length: 8 }, () => json(address, chart)))
  assert.deepEqual(
    seen,
    ['/api/v1/query', '/api/v1/query_range'],
    'whether there are rows of agents; sixteen questions of eight people at once',
  )
  const { services } = charts[0] as { services: { metrics: { avg: number[]; max: number[]; count: number[] }[] }[] }
  const [util] = services[0]?.metrics ?? []
  // The samples of a minute are four; the last of them ends 12 s before it does.
  assert.deepEqual(util?.avg.slice(0, 3), [5.5, 9.5, 13.5])
  assert.deepEqual(util?.max.slice(0, 3), [8, 12, 16])
  assert.deepEqual(util?.count.slice(0, 3), [2, 2, 2])

  const answer = await fetch(`${address}/api/v1/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      fromMs: from,
      toMs: to,
      stepMs: 60_000,
      queries: [{ metric: 'requests_total', function: 'rate' }],
    }),
  })
  const { results } = (await answer.json()) as { results: { series: { labels: object; values: number[] }[] }[] }
  assert.deepEqual(results[0]?.series[0]?.labels, { app: 'chat', service: 'api' })
  for (const value of results[0]?.series[0]?.values ?? []) assert.ok(Math.abs(value - 2) < 1e-9)

  const { types } = (await json(address, '/api/v1/types')) as { types: { name: string; labels: string[] }[] }
  assert.deepEqual(
    types.map(({ name }) => name),
    ['app', 'pod', 'requests'],
  )
  assert.deepEqual(types[0]?.labels, ['app', 'pod', 'service'])
  const node = (await json(address, '/api/v1/node')) as { backend?: string }
  assert.equal(node.backend, url)
  const devices = await fetch(`${address}/api/v1/devices`)
  assert.equal(devices.status, 404)
  assert.match(
    await devices.text(),
    /CON_NO_AGENT.*is answered by agents only\. Ask the sonde agent or sonde up of a node itself/,
  )
  const foreign = await fetch(`${address}/api/v1/node`, { headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal(foreign.status, 403)
  await assertStops(sonde)
})

test('a console whose Prometheus is down starts, says so, and answers with 502, then 503', async (t) => {
  const sonde = await startSonde(['console', '--prometheus', `http://me:hidden@127.0.0.1:${await freePort()}`])
  t.after(() => sonde.stop('SIGKILL'))
  assert.match(
    sonde.output(),
    /history FAILING: http:\/\/127\.0\.0\.1:\d+ cannot be asked: 127\.0\.0\.1:\d+ refuses the connection/,
  )
  const statuses: number[] = []
  let last: Response | undefined
  for (let i = 0; i < 4; i++) {
    const asked = { fromMs: 0, toMs: 60_000 + i, stepMs: 60_000, queries: [{ metric: 'm' }] }
    last = await fetch(`${sonde.address}/api/v1/query?q=${encodeURIComponent(JSON.stringify(asked))}`)
    statuses.push(last.status)
  }
  assert.deepEqual(statuses, [502, 502, 502, 503])
  const retryAfterS = Number(last?.headers.get('retry-after'))
  assert.ok(retryAfterS > 5 && retryAfterS <= 30, `${retryAfterS}`)
  assert.match((await last?.text()) ?? '', /QRY_BACKEND_OPEN/)
  assert.doesNotMatch(sonde.output(), /hidden/)
  await assertStops(sonde)
})

test('slow questions of one reader cost that reader alone', { ...needs('prometheus', 'promtool') }, async (t) => {
  const many = Array.from({ length: 200 }, (_, i) => ({ pod: `p${i}` })).flatMap((labels) =>
    Array.from({ length: 20 }, (_, at) => ({ metric: 'busy', labels, timeMs: START_MS + at * 15_000, value: at })),
  )
  // What this server takes as slow.
  const url = await startBackfilled(t, [...samples(), ...many], ['--query.timeout=500ms'])
  const sonde = await startSonde(['console', '--prometheus', url])
  t.after(() => sonde.stop('SIGKILL'))
  const ask = async (body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${sonde.address}/api/v1/query`, { method: 'POST', headers, body: JSON.stringify(body) })
    return `${answer.status} ${/"code":"([A-Z_]+)"/.exec(await answer.text())?.[1] ?? ''}`
  }
  const slow = (at: number) => {
    const queries = Array.from({ length: 64 }, (_, i) => {
      return { metric: 'busy', function: 'avg', matchers: [{ label: 'pod', op: '!=', value: `${at} ${i}` }], by: [] }
    })
    return ask({ fromMs: START_MS - 10_000_000, toMs: START_MS + 600_000, stepMs: 1000, queries })
  }
  for (const at of [1, 2, 3, 4]) assert.equal(await slow(at), '504 QRY_BACKEND_TIMEOUT')
  const window = { fromMs: START_MS, toMs: START_MS + 600_000, stepMs: 60_000 }
  assert.equal(await ask({ ...window, queries: [{ metric: 'requests_total', function: 'rate' }] }), '200 ')
  await assertStops(sonde)
})

test('a console without an address says what to give', async () => {
  const { code, output } = await runSonde(['console'])
  assert.equal(code, 2)
  assert.match(
    output,
    /the console needs a Prometheus, or agents, or both\. Give --prometheus http:\/\/HOST:9090, or list agents in /,
  )
})
