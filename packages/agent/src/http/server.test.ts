import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { SondeError } from '@sonde/sdk'
import type { History, QueryAnswer } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers: Headers
}

/** A request that must be refused with our form of an error. */
async function refusal(url: string, init?: RequestInit): Promise<Refusal> {
  const response = await fetch(url, init)
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  assert.match(error.code, /^[A-Z]{3,4}_[A-Z_]+$/)
  return { status: response.status, ...error, headers: response.headers }
}

/** The same through node:http, which lets a test choose the Host and reads what comes as it comes. */
async function raw(address: string, path: string, headers: Record<string, string>, method = 'GET') {
  const request = httpRequest(`${address}${path}`, { headers, method }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}

/** The answer to raw bytes on a connection. */
async function speak(address: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.end(text)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  return answer
}

/** Waits for the first samples. */
async function served(test: TestContext, options: Parameters<typeof serveAgent>[1] = {}) {
  const { agent, address, app } = await serveAgent(test, options)
  await until('a sample', () => agent.sources[0]?.state === 'reading')
  return { agent, address, app }
}

test('another name than ours is refused on loopback, also for metrics, but not for health', async (t) => {
  const { agent, address } = await served(t)
  for (const path of ['/api/v1/node', '/metrics', '/api/v1/stream?q={}', '/nothing']) {
    const { status, body } = await raw(address, path, { host: 'rebound.example' })
    assert.equal(status, 421, path)
    assert.match(
      body.toString(),
      /"code":"HTTP_HOST","message":"Host is \\"rebound.example\\", no name of this server; .*export\.prometheus\.allowed_hosts"/,
    )
  }
  for (const path of ['/healthz', '/readyz'])
    assert.equal((await raw(address, path, { host: 'rebound.example' })).status, 200)
  assert.equal((await raw(address, '/api/v1/node', { host: `localhost:1` })).status, 200)
  assert.equal(agent.http.refused.get('host'), 4)
})

test('a name that the configuration allows is answered', async (t) => {
  const { address } = await served(t, { prometheus: { allowed_hosts: ['*.example.com'] } })
  assert.equal((await raw(address, '/api/v1/node', { host: 'gpu.example.com' })).status, 200)
  assert.equal((await raw(address, '/api/v1/node', { host: 'example.org' })).status, 421)
})

test('a listener beyond loopback lets metrics be scraped under any name', async (t) => {
  // The rule depends on the configuration; the test itself stays on loopback.
  const { address } = await served(t, { prometheus: { host: '0.0.0.0' } })
  assert.equal((await raw(address, '/metrics', { host: 'gpu17.cluster:9394' })).status, 200)
  assert.equal((await raw(address, '/api/v1/node', { host: 'gpu17.cluster:9394' })).status, 421)
  assert.equal((await raw(address, '/api/v1/node', { host: '10.1.2.3:9394' })).status, 200)
})

test('every answer tells the browser to do as little as possible', async (t) => {
  const { address } = await served(t)
  for (const path of ['/api/v1/node', '/metrics', '/nothing', '/healthz']) {
    const { headers } = await fetch(`${address}${path}`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'", path)
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
    assert.equal(headers.get('access-control-allow-origin'), null, path)
    assert.equal(headers.get('x-powered-by') ?? headers.get('server'), null, path)
  }
})

test('what is not there, and what a route does not take, is said as JSON', async (t) => {
  const { address } = await served(t)
  assert.deepEqual(
    { ...(await refusal(`${address}/nothing?x=1`)), headers: 0 },
    { status: 404, code: 'HTTP_NOT_FOUND', message: 'nothing is at "/nothing"', headers: 0 },
  )
  for (const [method, path, allow] of [
    ['POST', '/api/v1/node', 'GET, HEAD'],
    ['DELETE', '/metrics', 'GET, HEAD'],
    ['PUT', '/api/v1/query', 'GET, HEAD, POST'],
    ['HEAD', '/api/v1/stream', 'GET'],
    ['PUT', '/api/v1/incidents/node:17', 'GET, HEAD'],
    ['PATCH', '/api/v1/incidents/node:17/pin', 'POST, DELETE'],
    ['DELETE', '/api/v1/incidents/node:17/notes', 'POST'],
  ] as const) {
    const response = await fetch(`${address}${path}`, { method })
    assert.equal(response.status, 405, `${method} ${path}`)
    assert.equal(response.headers.get('allow'), allow)
    if (method !== 'HEAD')
      assert.match(
        await response.text(),
        new RegExp(`"HTTP_METHOD","message":".*takes no ${method}; allowed: ${allow}"`),
      )
  }
})

test('a long name that nothing has is not repeated in full', async (t) => {
  const { address } = await served(t)
  const { status, code, message } = await refusal(`${address}/api/v1/incidents/${'x'.repeat(8000)}`)
  assert.deepEqual([status, code, message.length < 300], [404, 'INC_UNKNOWN', true])
})

test('HEAD answers the head of GET', async (t) => {
  const { address } = await served(t)
  for (const path of ['/metrics', '/healthz', '/api/v1/node', '/api/v1/sources']) {
    const [head, whole] = await Promise.all([raw(address, path, {}, 'HEAD'), raw(address, path, {})])
    assert.equal(head.status, 200, path)
    assert.equal(head.body.length, 0)
    assert.equal(head.headers['content-type'], whole.headers['content-type'])
    assert.ok(Number(head.headers['content-length']) > 0, path)
  }
})

test('garbage is refused with its place, its value and what is allowed', async (t) => {
  const { address } = await served(t)
  const query = `${address}/api/v1/query`
  const q = (form: unknown) => `${query}?q=${encodeURIComponent(JSON.stringify(form))}`
  const cases: [string, RequestInit | undefined, number, string, RegExp][] = [
    [`${address}/api/v1/series`, undefined, 400, 'QRY_FORM', /metric and type are missing/],
    [`${address}/api/v1/series?metric=a&metric=b`, undefined, 400, 'QRY_FORM', /metric is \["a","b"\]; allowed: once/],
    [`${address}/api/v1/series?metric=`, undefined, 400, 'QRY_FORM', /metric is ""; allowed/],
    [query, undefined, 400, 'QRY_FORM', /parameter q is missing/],
    [`${query}?q=%7B`, undefined, 400, 'QRY_FORM', /q is "\{"; allowed: JSON/],
    [`${query}?q={}&q={}`, undefined, 400, 'QRY_FORM', /q is \["{}","{}"\]; allowed: once/],
    [q([]), undefined, 400, 'QRY_FORM', /the request is an array of 0 elements; allowed: an object/],
    [
      q({ queries: [{ metric: 'm', function: 'median' }] }),
      undefined,
      400,
      'QRY_FORM',
      /queries\[0\]\.function is "median"; allowed: last/,
    ],
    [q({ queries: [{ metric: 'm' }], stepMs: 0.5 }), undefined, 400, 'QRY_FORM', /stepMs is 0\.5; allowed/],
    [q({ queries: [{ metric: 'm' }], fromMs: 'now' }), undefined, 400, 'QRY_FORM', /fromMs is "now"; allowed/],
    [
      q({ queries: [{ metric: 'm', matchers: [{ label: 'd', op: '=~', value: '[' }] }] }),
      undefined,
      400,
      'QRY_FORM',
      /matchers\[0\]/,
    ],
    [
      q({ queries: [{ metric: 'm' }], fromMs: 1, toMs: 1e9, stepMs: 1 }),
      undefined,
      422,
      'QRY_LIMIT',
      /points a series; at most 11000/,
    ],
    [
      q({ queries: Array(65).fill({ metric: 'm' }) }),
      undefined,
      422,
      'QRY_LIMIT',
      /65 questions in one request; at most 64/,
    ],
    [query, { method: 'POST', body: '{', headers: JSON_TYPE }, 400, 'HTTP_REQUEST', /JSON/],
    [
      query,
      { method: 'POST', body: 'a=b', headers: { 'content-type': 'text/plain' } },
      415,
      'HTTP_CONTENT_TYPE',
      /application\/json/,
    ],
    [
      query,
      { method: 'POST', body: JSON.stringify({ x: 'y'.repeat(300_000) }), headers: JSON_TYPE },
      413,
      'HTTP_BODY_LIMIT',
      /at most 262144 bytes/,
    ],
    [`${address}/%zz`, undefined, 400, 'HTTP_URL', /no valid URL/],
    [
      `${address}/api/v1/stream?q=${encodeURIComponent('{"queries":[{"metric":"m"}],"stepMs":50}')}`,
      undefined,
      400,
      'QRY_FORM',
      /stepMs is 50; a live stream takes 100 to 60000/,
    ],
    [`${address}/api/v1/stream?q=null`, undefined, 400, 'QRY_FORM', /q is .*; allowed: an object with stepMs, queries/],
    [
      `${address}/api/v1/stream?lastEventId=x&q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`,
      undefined,
      400,
      'QRY_FORM',
      /last event id is "x"; allowed/,
    ],
  ]
  for (const [url, init, status, code, message] of cases) {
    const answer = await refusal(url, init)
    assert.equal(`${answer.status} ${answer.code}`, `${status} ${code}`, `${url.slice(0, 200)}: ${answer.message}`)
    assert.match(answer.message, message)
  }
})

test('an address or headers that are too long are refused before they are read', async (t) => {
  const { address } = await served(t)
  assert.deepEqual((({ status, code }) => ({ status, code }))(await refusal(`${address}/?${'x'.repeat(17_000)}`)), {
    status: 431,
    code: 'HTTP_HEADER_LIMIT',
  })
  assert.match(
    await speak(address, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`),
    /^HTTP\/1\.1 431 .*"HTTP_HEADER_LIMIT"/s,
  )
  assert.match(await speak(address, 'what is this\r\n\r\n'), /^HTTP\/1\.1 400 .*"HTTP_PARSE"/s)
})

test('with more connections than the limit that is closed which has asked for nothing for longest, and counted', async (t) => {
  const { agent, address } = await served(t, { limits: { connections: 2 } })
  const port = Number(new URL(address).port)
  const silent = connect(port, '127.0.0.1').resume()
  t.after(() => silent.destroy())
  const gone = once(silent, 'close')
  await once(silent, 'connect')
  const asking = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => asking.destroy())
  const ask = async () => {
    const [answer] = (await once(get(`${address}/healthz`, { agent: asking }), 'response')) as [IncomingMessage]
    await answer.toArray()
    return answer.statusCode
  }
  assert.equal(await ask(), 200)
  const third = connect(port, '127.0.0.1')
  t.after(() => third.destroy())
  await gone
  assert.equal(agent.http.refused.get('connections'), 1)
  assert.equal(await ask(), 200, 'the one that asks stays')
})

test('an answer that nobody reads is given up', async (t) => {
  const { address, app } = await served(t, { devices: 400 })
  app.server.timeout = 200
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  // More answers than the connection holds.
  for (let i = 0; i < 1000; i++) socket.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const count = () => new Promise<number>((resolve) => app.server.getConnections((_error, open) => resolve(open)))
  await until('the connection to be given up', async () => (await count()) === 0)
})

test('a request for more values than may be computed is refused and counted', async (t) => {
  const { agent, address } = await served(t, { devices: 400 })
  const nowMs = Date.now()
  const queries = [{ metric: 'steady_samples_total' }]
  const body = JSON.stringify({ fromMs: nowMs - 11_000, toMs: nowMs, stepMs: 1, queries })
  const answer = await refusal(`${address}/api/v1/query`, { method: 'POST', body, headers: JSON_TYPE })
  assert.equal(`${answer.status} ${answer.code}`, '422 QRY_COST_LIMIT')
  assert.match(
    answer.message,
    /2002000 values or more, series times points, with those of steady_samples_total; at most 2000000 a request: take/,
  )
  assert.equal(agent.http.refused.get('query_cost'), 1)
})

/** A history that answers when the test releases it. */
function heldHistory(): { history: History; release(): void; waiting(): number } {
  const answer: QueryAnswer = { fromMs: 0, toMs: 1, stepMs: 1, times: new Float64Array(0), results: [] }
  const held: (() => void)[] = []
  return {
    history: { query: () => new Promise((resolve) => held.push(() => resolve(answer))) },
    release() {
      for (const resolve of held.splice(0)) resolve()
    },
    waiting: () => held.length,
  }
}

test('with more queries than the limit clients take turns: who asks much waits behind who asks little', async (t) => {
  const { history, release, waiting } = heldHistory()
  const { agent, address } = await served(t, { history, limits: { parallel_queries: 1 } })
  const path = `/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`
  const order: string[] = []
  const greedy = connect(Number(new URL(address).port), '127.0.0.1')
  t.after(() => greedy.destroy())
  greedy.on('data', (data) => {
    for (const [, status] of String(data).matchAll(/HTTP\/1\.1 (\d+)/g)) order.push(`greedy ${status}`)
  })
  greedy.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(4))
  await until('the first query', () => waiting() === 1)
  const honest = fetch(address + path).then(({ status }) => order.push(`honest ${status}`))
  await until('all queries', () => agent.http.requests === 5)
  for (let answered = 1; answered <= 5; answered++) {
    await until('a query', () => waiting() === 1)
    release()
    await until('its answer', () => order.length === answered)
  }
  await honest
  assert.deepEqual(order, ['greedy 200', 'greedy 200', 'honest 200', 'greedy 200', 'greedy 200'])
  assert.equal(agent.http.refused.get('parallel_queries'), 0)
})

test('a client that hangs up before it has its answer is no fault, and no line of the log but for who debugs', async (t) => {
  const { history, release, waiting } = heldHistory()
  const { agent, address, app } = await served(t, { history })
  const told: string[] = []
  for (const level of ['error', 'debug'] as const)
    t.mock.method(agent.options.log, level, (_: object, message: string) => told.push(`${level}: ${message}`))
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  // A body that was read to its end: then Fastify takes a client that hangs up for a fault.
  const body = '{"queries":[{"metric":"m"}]}'
  const head = `host: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  socket.write(`POST /api/v1/query HTTP/1.1\r\n${head}\r\n\r\n${body}`)
  await until('a query', () => waiting() === 1)
  socket.resetAndDestroy()
  const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await until('the end of the connection', async () => (await connections()) === 0)
  release()
  await until('a line of the log', () => told.length > 0)
  assert.deepEqual(told, ['debug: a client hung up before it had its answer'])
  assert.equal(agent.http.errors, 0)
})

test('a fault of ours is 500 without its details, and counted', async (t) => {
  const history: History = { query: () => Promise.reject(new Error('secret path /etc/shadow')) }
  const { agent, address } = await served(t, { history })
  const answer = await refusal(`${address}/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`)
  assert.equal(`${answer.status} ${answer.code}`, '500 HTTP_FAULT')
  assert.doesNotMatch(answer.message, /secret/)
  assert.equal(agent.http.errors, 1)
})

test('a store that cannot answer says so, and when to ask again', async (t) => {
  const history: History = { query: () => Promise.reject(new SondeError('STO_UNAVAILABLE', 'the disk is gone')) }
  const { agent, address } = await served(t, { history })
  const answer = await refusal(`${address}/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"m"}]}')}`)
  assert.equal(`${answer.status} ${answer.code} ${answer.message}`, '503 STO_UNAVAILABLE the disk is gone')
  assert.equal(answer.headers.get('retry-after'), '5')
  assert.equal(agent.http.errors, 0)
})

test('answers are compressed where the asker takes gzip, and are the same', async (t) => {
  const { agent, address } = await served(t, { devices: 40 })
  await until('some samples', () => (agent.sources[0]?.stats.samples ?? 0) > 5)
  const nowMs = Date.now()
  const form = {
    fromMs: nowMs - 10_000,
    toMs: nowMs,
    stepMs: 100,
    queries: [{ metric: 'steady_samples_total' }],
  }
  const path = `/api/v1/query?q=${encodeURIComponent(JSON.stringify(form))}`
  for (const accept of ['application/json', 'application/x-sonde-columns']) {
    const plain = await raw(address, path, { accept })
    const packed = await raw(address, path, { accept, 'accept-encoding': 'br;q=1, gzip;q=0.5' })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.match(packed.headers.vary ?? '', /Accept-Encoding/)
    assert.ok(packed.body.length < plain.body.length / 2, `${packed.body.length} of ${plain.body.length}`)
    assert.deepEqual(gunzipSync(packed.body), plain.body)
  }
  const refused = await raw(address, path, { 'accept-encoding': 'gzip;q=0' })
  assert.equal(refused.headers['content-encoding'], undefined)
  assert.equal((await raw(address, '/healthz', { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined)
})

test('a client that goes away amid a large answer does no harm', async (t) => {
  const { agent, address } = await served(t, { devices: 150 })
  const nowMs = Date.now()
  const form = { fromMs: nowMs - 10_000, toMs: nowMs, stepMs: 1, queries: [{ metric: 'steady_samples_total' }] }
  for (const encoding of ['identity', 'gzip', 'identity']) {
    const headers = { 'accept-encoding': encoding }
    const request = get(`${address}/api/v1/query?q=${encodeURIComponent(JSON.stringify(form))}`, { headers })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response, 'data')
    response.destroy()
  }
  assert.equal((await fetch(`${address}/healthz`)).status, 200)
  assert.equal(agent.http.queries, 0)
  assert.equal(agent.http.errors, 0)
})

test('what was refused is in the metrics from the start', async (t) => {
  const { agent, address } = await served(t)
  await raw(address, '/api/v1/node', { host: 'rebound.example' })
  const page = await until('the count', async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    return /^sonde_http_refused_requests_total\{reason="host"\} 0*1$/m.test(text) && text
  })
  for (const reason of agent.http.refused.keys()) assert.match(page, new RegExp(`reason="${reason}"`))
})

test('a person whose address is broken reads a sentence; a program, and whoever asks the API, gets the error as always', async (t) => {
  const { address } = await serveAgent(t)
  const headers = { accept: 'text/html,application/xhtml+xml' }
  const shown = await fetch(`${address}/fabric/100%`, { headers })
  assert.equal(shown.status, 400)
  assert.match(shown.headers.get('content-type') ?? '', /^text\/plain/)
  assert.equal(shown.headers.get('x-content-type-options'), 'nosniff')
  assert.match(await shown.text(), /^The address is no valid URL; .*%25\.\n$/)
  for (const [path, init] of [['/api/v1/%', { headers }], ['/fabric/100%']] as const) {
    assert.equal((await refusal(`${address}${path}`, init)).code, 'HTTP_URL')
  }
})
