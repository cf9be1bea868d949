import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { SondeError } from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { PrometheusHistory } from './prometheus-history.ts'
import { type ServerRequest, ServerTransport } from './server-transport.ts'

async function serving(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ASKED: ServerRequest = { path: '/api/v1/query', form: { query: 'up' }, limitMs: 60_000, depthOfList: 3 }
const EMPTY = '{"status":"success","data":{"resultType":"matrix","result":[]}}'

async function faultOf(asking: Promise<unknown>): Promise<SondeError> {
  const error = await asking.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof SondeError, String(error))
  return error
}

const ANSWERS: readonly [what: string, answer: RequestListener, code: string, says: RegExp][] = [
  ['a redirect', (_q, r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'QRY_BACKEND', /redirect/],
  ['a page of a proxy', (_q, r) => r.end('<html>'), 'QRY_BACKEND', /not as a Prometheus/],
  ['JSON of something else', (_q, r) => r.end('{"ok":true}'), 'QRY_BACKEND', /not as a Prometheus/],
  ['null', (_q, r) => r.end('null'), 'QRY_BACKEND', /not as a Prometheus/],
  ['an answer that breaks off', (_q, r) => r.end(EMPTY.slice(0, -3)), 'QRY_BACKEND', /not as a Prometheus/],
  [
    'a connection that is cut',
    (_q, r) => r.write(EMPTY.slice(0, 9), () => r.destroy()),
    'QRY_BACKEND',
    /cannot be asked/,
  ],
  ['no credentials', (_q, r) => r.writeHead(401).end(), 'QRY_BACKEND', /refuses \(401\)/],
  ['a fault of its own', (_q, r) => r.writeHead(500).end('x'.repeat(1 << 20)), 'QRY_BACKEND', /answers with 500/],
  [
    'too many samples',
    (_q, r) => r.writeHead(422).end('{"error":"query processing would load too many samples"}'),
    'QRY_BACKEND_LIMIT',
    /too many samples/,
  ],
  [
    'its own time limit',
    (_q, r) => r.writeHead(503).end('{"errorType":"timeout","error":"query timed out"}'),
    'QRY_BACKEND_TIMEOUT',
    /timed out/,
  ],
]
for (const [what, answer, code, says] of ANSWERS) {
  test(`${what} is ${code}`, async (t) => {
    const transport = new ServerTransport(`http://${await serving(t, answer)}`)
    const error = await faultOf(transport.ask(ASKED, () => undefined))
    assert.equal(error.code, code)
    assert.match(error.message, says)
  })
}

test('an answer without end is given up, and not kept meanwhile', async (t) => {
  const element = `{"metric":{},"values":[[1,"${'1'.repeat(50_000)}"]]},`.repeat(20)
  const host = await serving(t, (_request, answer) => {
    answer.write('{"status":"success","data":{"result":[')
    const more = () => {
      while (!answer.destroyed && answer.write(element));
      if (!answer.destroyed) answer.once('drain', more)
    }
    more()
  })
  const error = await faultOf(new ServerTransport(`http://${host}`).ask(ASKED, () => undefined))
  assert.equal(error.code, 'QRY_BACKEND_LIMIT')
})

test('a packed answer is unpacked, and one that unpacks without end is given up', async (t) => {
  const packed = await serving(t, (_request, answer) => {
    const body = gzipSync('{"status":"success","data":{"result":[{"metric":{}}]}}')
    answer.writeHead(200, { 'content-encoding': 'gzip' }).end(body)
  })
  const elements: string[] = []
  await new ServerTransport(`http://${packed}`).ask(ASKED, (element) => void elements.push(element))
  assert.deepEqual(elements, ['{"metric":{}}'])
  const bomb = gzipSync(Buffer.alloc(129 << 20, ' '))
  assert.ok(bomb.length < 1 << 20)
  const small = await serving(t, (_request, answer) => answer.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  const error = await faultOf(new ServerTransport(`http://${small}`).ask(ASKED, () => undefined))
  assert.equal(error.code, 'QRY_BACKEND_LIMIT')
  const broken = await serving(t, (_request, answer) =>
    answer.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
  )
  assert.equal((await faultOf(new ServerTransport(`http://${broken}`).ask(ASKED, () => undefined))).code, 'QRY_BACKEND')
})

test('addresses that no server of metrics has are not asked, and private addresses only for the operator', async (t) => {
  let asked = 0
  const host = await serving(t, (_request, answer) => answer.end(String(asked++)))
  const transports = [
    new ServerTransport('http://169.254.169.254/latest'),
    new ServerTransport(`http://${host}`, { allowsPrivate: false }),
  ]
  for (const transport of transports) {
    const error = await faultOf(transport.ask(ASKED, () => undefined))
    assert.equal(error.code, 'QRY_BACKEND')
    assert.match(error.message, /allowed: public/)
  }
  assert.equal(asked, 0)
})

test('a server that does not answer is given up in time', async (t) => {
  const transport = new ServerTransport(`http://${await serving(t, () => undefined)}`)
  assert.equal((await faultOf(transport.ask({ ...ASKED, limitMs: 20 }, () => undefined))).code, 'QRY_BACKEND_TIMEOUT')
})

test('a server that cannot be reached three times is not asked, and the answer says when to come back', async (t) => {
  let asked = 0
  const host = await serving(t, ({ socket }) => {
    asked++
    socket.destroy()
  })
  const transport = new ServerTransport(`http://${host}`)
  for (let i = 0; i < 3; i++) await faultOf(transport.ask(ASKED, () => undefined))
  // Each query, and each check whether the server is reachable.
  assert.equal(asked, 6)
  const error = await faultOf(transport.ask(ASKED, () => undefined))
  assert.equal(error.code, 'QRY_BACKEND_OPEN')
  assert.equal(error.retryAfterS, 30)
  assert.equal(asked, 6)
})

/** Answers that servers give instead of a result: status, body, and the expected error. */
const REFUSALS: readonly [server: string, status: number, body: string, code: string][] = [
  ['Prometheus: syntax', 400, '{"errorType":"bad_data","error":"parse error"}', 'QRY_BACKEND'],
  ['Prometheus: too many samples', 422, '{"errorType":"execution","error":"too many samples"}', 'QRY_BACKEND_LIMIT'],
  ['Prometheus: slow', 503, '{"errorType":"timeout","error":"query timed out"}', 'QRY_BACKEND_TIMEOUT'],
  ['Prometheus: cut off', 503, '{"errorType":"canceled","error":"query was canceled"}', 'QRY_BACKEND_TIMEOUT'],
  ['Prometheus 3: cut off', 499, '{"errorType":"canceled","error":"context canceled"}', 'QRY_BACKEND_TIMEOUT'],
  ['Prometheus: remote read', 500, '{"errorType":"internal","error":"remote read"}', 'QRY_BACKEND'],
  ['Prometheus: starts', 503, 'Service Unavailable', 'QRY_BACKEND'],
  ['VictoriaMetrics: too many samples', 422, '{"errorType":"422","error":"maxSamplesPerQuery"}', 'QRY_BACKEND_LIMIT'],
  ['VictoriaMetrics: overload', 503, '{"errorType":"503","error":"cannot start executing"}', 'QRY_BACKEND'],
  ['VictoriaMetrics: overload', 429, '{"errorType":"429","error":"too many requests"}', 'QRY_BACKEND'],
  ['Thanos: a store is missing', 503, '{"errorType":"execution","error":"no store matched"}', 'QRY_BACKEND'],
  ['Mimir: too many queries', 429, '{"errorType":"too_many_requests","error":"outstanding"}', 'QRY_BACKEND'],
  ['Mimir: too many chunks', 422, '{"errorType":"execution","error":"err-mimir-max-chunks"}', 'QRY_BACKEND_LIMIT'],
  ['a proxy: slow', 504, '<html>', 'QRY_BACKEND_TIMEOUT'],
  ['a proxy: overload', 502, '<html>', 'QRY_BACKEND'],
]
for (const [server, status, body, code] of REFUSALS) {
  test(`${server} (${status}) is ${code}, and costs its asker alone`, async (t) => {
    const host = await serving(t, ({ url = '' }, answer) => {
      if (url.startsWith('/api/v1/labels')) answer.end(EMPTY)
      else answer.writeHead(status).end(body)
    })
    const transport = new ServerTransport(`http://${host}`)
    for (let i = 0; i < 5; i++) assert.equal((await faultOf(transport.ask(ASKED, () => undefined))).code, code)
    assert.equal((await transport.ask({ ...ASKED, path: '/api/v1/labels' }, () => undefined)).status, 'success')
  })
}

test('questions without an answer in time cost their askers alone where the server is there', async (t) => {
  const host = await serving(t, ({ url }, answer) => {
    if (url === '/-/healthy') answer.writeHead(404).end()
    else if (url === '/api/v1/labels') answer.end(EMPTY)
  })
  const transport = new ServerTransport(`http://${host}`)
  const slow = { ...ASKED, limitMs: 20 }
  for (let i = 0; i < 5; i++)
    assert.equal((await faultOf(transport.ask(slow, () => undefined))).code, 'QRY_BACKEND_TIMEOUT')
  assert.equal((await transport.ask({ ...ASKED, path: '/api/v1/labels' }, () => undefined)).status, 'success')
})

test('a server that says nothing to anything is spared', async (t) => {
  const host = await serving(t, ({ url, socket }) => {
    if (url === '/-/healthy') socket.destroy()
  })
  const transport = new ServerTransport(`http://${host}`)
  const slow = { ...ASKED, limitMs: 20 }
  const codes: string[] = []
  await until('a server that is spared', async () => {
    codes.push((await faultOf(transport.ask(slow, () => undefined))).code)
    return codes.at(-1) === 'QRY_BACKEND_OPEN'
  })
  assert.ok(codes.length > 3)
})

test('name and password are sent, and stand in no message', async (t) => {
  const seen: (string | undefined)[] = []
  const host = await serving(t, ({ headers }, answer) => {
    seen.push(headers.authorization)
    answer.writeHead(500).end()
  })
  const transport = new ServerTransport(`http://me:s%3Acret%25@${host}/prom/`)
  const { message } = await faultOf(transport.ask(ASKED, () => undefined))
  assert.equal(seen[0], `Basic ${Buffer.from('me:s:cret%').toString('base64')}`)
  assert.equal(transport.address, `http://${host}/prom`)
  assert.doesNotMatch(message, /cret|me:/)
  const error = await faultOf(Promise.resolve().then(() => new ServerTransport('ftp://me:secret@x')))
  assert.equal(error.code, 'QRY_BACKEND_URL')
  assert.doesNotMatch(error.message, /secret/)
})

test('all questions of a request are one request to the server, and so are those of many askers', async (t) => {
  const seen: string[] = []
  const host = await serving(t, ({ url = '' }, answer) => {
    seen.push(url)
    answer.end(url.startsWith('/api/v1/metadata') ? '{"status":"success","data":{}}' : EMPTY)
  })
  const history = new PrometheusHistory({ url: `http://${host}`, intervalMs: 15_000 })
  const queries = Array.from({ length: 36 }, (_, i) => {
    const fn = (['last', 'avg', 'rate'] as const)[i % 3] ?? 'last'
    return { metric: `m${i}`, function: fn, matchers: [], by: ['service'], aggregate: 'avg' as const }
  })
  const request = { fromMs: 0, toMs: 600_000, stepMs: 60_000, queries }
  await Promise.all(Array.from({ length: 20 }, () => history.query(request)))
  // Metadata, newest sample, simulated series and agents of the server are each requested once.
  const told = ['/api/v1/metadata', ...Array.from({ length: 3 }, () => '/api/v1/query')]
  assert.deepEqual(seen.sort(), [...told, '/api/v1/query_range'])
  await history.query({ ...request, toMs: 660_000 })
  assert.equal(seen.length, 6, 'what the server tells is kept')
})

for (const { given, held } of [
  { given: {}, held: 47.5 },
  { given: { latencyMs: 60_000 }, held: 97.5 },
]) {
  test(`a server whose newest sample is 25 s old has a latency: now holds ${held} s (${JSON.stringify(given)})`, async (t) => {
    const asked: URLSearchParams[] = []
    const host = await serving(t, async (request, answer) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const form = new URLSearchParams(body)
      asked.push(form)
      const newest = form.get('query')?.startsWith('max(timestamp(') ? Date.now() / 1000 - 25 : undefined
      const result = newest === undefined ? [] : [{ metric: {}, value: [0, String(newest)] }]
      answer.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }))
    })
    const history = new PrometheusHistory({ url: `http://${host}`, intervalMs: 15_000, ...given })
    const query = { metric: 'm', function: 'last', matchers: [], by: undefined, aggregate: 'sum' } as const
    const heldIn = async (window: { fromMs: number; toMs: number }) => {
      await history.query({ ...window, stepMs: 1000, queries: [query] })
      const { query: expression = '', time } = Object.fromEntries(asked.at(-1) ?? [])
      return [Number(/\[(\d+)ms\]/.exec(expression)?.[1]), time]
    }
    const [heldMs = 0, time] = await heldIn({ fromMs: 9000, toMs: 10_000 })
    assert.ok(Math.abs(Number(heldMs) - held * 1000) < 1000, String(heldMs))
    assert.equal(time, '10.000')
    // The end of a chart is the end of its samples.
    assert.deepEqual(await heldIn({ fromMs: 8000, toMs: 10_000 }), [37_499, undefined])
  })
}
