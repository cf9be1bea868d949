import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { SondeError } from '../errors.ts'
import { createApiClient } from './api-client.ts'
import type { ApiClientOptions } from './options.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const NODE = { node: 'hgx-a17' }

/** A server that gives the answers in order and repeats the last, with the requests that it got. */
async function serve(t: TestContext, answers: readonly Answer[], options: Partial<ApiClientOptions> = {}) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    answers[Math.min(asked.length, answers.length) - 1]?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sonde//`
  return { asked, client: createApiClient({ baseUrl, backoffInitialMs: 1, ...options }) }
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

const busy = (headers?: Record<string, string>) =>
  json(503, { error: { code: 'QRY_BUSY', message: 'ask again' } }, headers)

function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'none',
    (error: unknown) => (error instanceof SondeError ? error.code : error),
  )
}

test('a request has the path of the proxy, the token and its parameters', async (t) => {
  const { asked, client } = await serve(t, [json(200, NODE)], { token: 'abc.def' })
  assert.deepEqual(await client.node(), NODE)
  await client.app('chat', { services: ['a', 'b'], largest: true })
  await client.pod({ namespace: 'a/b', name: 'c?d' })
  await client.incidents({ fromMs: 1, toMs: 2, severity: 'critical' })
  await client.incidents({ device: 'mlx5 0', kind: 'event', fromMs: 0, limit: 7 })
  assert.deepEqual(
    asked.map(({ url }) => url),
    [
      '/sonde/api/v1/node',
      '/sonde/api/v1/apps/chat/gpu?services=a%2Cb&largest=true',
      '/sonde/api/v1/pods/a%2Fb/c%3Fd',
      '/sonde/api/v1/incidents?severity=critical&from=1&to=2',
      '/sonde/api/v1/incidents?device=mlx5%200&kind=event&limit=7&from=0',
    ],
  )
  assert.deepEqual([...new Set(asked.map(({ headers }) => headers.authorization))], ['Bearer abc.def'])
})

test('what may succeed later is asked again, queries too; an error of the request is not', async (t) => {
  const later = await serve(t, [busy(), (request) => request.socket.destroy(), json(200, { results: [] })])
  await later.client.query({ fromMs: 0, toMs: 1, stepMs: 1, queries: [] })
  assert.deepEqual(
    later.asked.map(({ method }) => method),
    ['POST', 'POST', 'POST'],
  )
  const wrong = await serve(t, [json(400, { error: { code: 'QRY_FORM', message: 'no' } })])
  assert.equal(await codeOf(wrong.client.node()), 'QRY_FORM')
  assert.equal(wrong.asked.length, 1)
  const never = await serve(t, [busy()], { retries: 2 })
  assert.equal(await codeOf(never.client.node()), 'QRY_BUSY')
  assert.equal(never.asked.length, 3)
})

test('Retry-After comes before the pauses of the client; one that is too long is an error at once', async (t) => {
  const soon = await serve(t, [busy({ 'retry-after': '1' }), json(200, NODE)])
  const startMs = performance.now()
  await soon.client.node()
  assert.ok(performance.now() - startMs >= 990, 'it waited for a second')
  const late = await serve(t, [busy({ 'retry-after': '3600' })])
  await assert.rejects(late.client.node(), { code: 'QRY_BUSY', retryAfterS: 3600 })
  assert.equal(late.asked.length, 1)
})

test('answers that are not of Sonde are errors with their beginning, without control characters', async (t) => {
  const page: Answer = (_request, response) => response.writeHead(200).end('<html>\u001b[2J')
  const { client, asked } = await serve(t, [page])
  await assert.rejects(client.node(), (error: SondeError) => {
    assert.equal(error.code, 'CLT_ANSWER')
    assert.match(error.message, /^127\.0\.0\.1:\d+ answers 200 with "<html>\\\\u001b\[2J"/)
    return true
  })
  assert.equal(asked.length, 1)
  const gateway = await serve(t, [(_request, response) => response.writeHead(502).end('bad gateway')], { retries: 1 })
  assert.equal(await codeOf(gateway.client.node()), 'CLT_ANSWER')
  assert.equal(gateway.asked.length, 2)
})

test('an answer without end is refused, and so is a redirect, which could lead the token elsewhere', async (t) => {
  const endless: Answer = (_request, response) => {
    response.writeHead(200)
    const piece = Buffer.alloc(1 << 20, 32)
    const more = () => {
      while (!response.destroyed && response.write(piece)) {
        // Until the reader is slower, or hangs up.
      }
    }
    response.on('drain', more)
    more()
  }
  assert.equal(await codeOf((await serve(t, [endless])).client.node()), 'CLT_ANSWER')
  const elsewhere = await serve(t, [json(200, NODE)])
  const away: Answer = (_request, response) => {
    response.writeHead(302, { location: `http://${elsewhere.asked.length}.localhost/` }).end()
  }
  const redirecting = await serve(t, [away], { token: 'secret', retries: 0 })
  assert.equal(await codeOf(redirecting.client.node()), 'CLT_UNREACHABLE')
})

test('a server that is silent or absent is named; an aborted call has the reason of its signal', async (t) => {
  const silent = await serve(t, [(request) => request.resume()], { timeoutMs: 100, retries: 1 })
  assert.equal(await codeOf(silent.client.node()), 'CLT_TIMEOUT')
  assert.equal(silent.asked.length, 2)
  const hangsUp = await serve(t, [(request) => request.socket.destroy()], { retries: 0 })
  await assert.rejects(hangsUp.client.node(), /http:\/\/127\.0\.0\.1:\d+\/sonde does not answer \(\w+\)/)
  const reason = new Error('enough')
  const waiting = await serve(t, [busy()], { backoffInitialMs: 60_000, backoffMaxMs: 60_000 })
  const control = new AbortController()
  const call = codeOf(waiting.client.node({ signal: control.signal }))
  setTimeout(() => control.abort(reason), 50)
  assert.equal(await call, reason)
  assert.equal(await codeOf(waiting.client.node({ signal: control.signal })), reason)
})

test('wrong options are refused without their secrets', () => {
  const refused = (options: Partial<ApiClientOptions>) => {
    try {
      createApiClient({ baseUrl: 'http://localhost', ...options })
    } catch (error) {
      return (error as SondeError).message
    }
    return 'accepted'
  }
  assert.match(refused({ baseUrl: 'http://user:secret@host/' }), /^baseUrl is not valid; allowed: http/)
  assert.match(refused({ baseUrl: 'file:///etc/passwd' }), /^baseUrl/)
  assert.match(refused({ baseUrl: 'host' }), /^baseUrl/)
  assert.equal(refused({ token: 'a\r\nx: y' }), 'token is not valid; allowed: characters of ASCII without spaces')
  assert.match(refused({ retries: 1.5 }), /^retries is 1.5; allowed: a whole number from 0 to 10/)
  assert.match(refused({ timeoutMs: 0 }), /^timeoutMs is 0/)
})

test('the caps of series of apps are checked before anything is sent', async (t) => {
  const { client, asked } = await serve(t, [json(200, {})])
  const services = Array.from({ length: 101 }, (_, at) => `service-${at}`)
  const ask = (wanted: object) =>
    client.appMetrics({ app: 'chat', services: ['decode'], ...wanted }).then(
      () => 'sent',
      ({ code, message }: SondeError) => `${code}: ${message}`,
    )
  const cap = 'APP_CAP: 101 services in one request; allowed: 100, or raise limits.gpu_metrics_max_pods'
  assert.equal(await ask({ services }), cap)
  const day = { startMs: 0, endMs: 86_400_001 }
  assert.equal(await ask(day), 'QRY_FORM: start is "0"; allowed: at most 24 h before end')
  assert.equal(await ask({ periodS: 4 }), 'QRY_FORM: period is "4"; allowed: whole seconds, at least 5')
  const fine = { startMs: 0, endMs: 86_400_000, periodS: 5 }
  assert.equal(await ask(fine), 'QRY_FORM: period is "5"; allowed: a period that gives at most 5000 points')
  assert.match(await ask({ services: ['a/b'] }), /^QRY_FORM: services is "a\/b"; allowed: names/)
  assert.match(await ask({ services: [] }), /^QRY_FORM: services is ""/)
  assert.equal(asked.length, 0)
  assert.equal(await ask({ fields: ['gpu-util'], periodS: 60 }), 'sent')
  assert.equal(asked[0]?.url, '/sonde/api/v1/apps/chat/metrics-by-service?services=decode&period=60&fields=gpu-util')
})
