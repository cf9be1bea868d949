import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

const STREAM = `/api/v1/stream?q=${encodeURIComponent('{"queries":[{"metric":"steady_samples_total"}]}')}`
const QUERY = `/api/v1/query?q=${encodeURIComponent('{"queries":[{"metric":"steady_samples_total"}]}')}`
const PLACES = ['/metrics', '/api/v1/node', STREAM, QUERY, '/api/v1/explain?of=steady', '/nothing']
/** A script, an image and a stream of a page elsewhere. */
const OF_A_PAGE = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
const OF_A_LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** The status of a GET; a stream is left when it was answered. */
async function statusOf(address: string, headers: Record<string, string>): Promise<number | undefined> {
  const request = get(address, { headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  request.on('error', () => undefined).destroy()
  return response.statusCode
}

test('a page of another site is refused before it takes a place, and is counted', async (t) => {
  const { agent, address } = await serveAgent(t, { limits: { stream_clients: 1, parallel_queries: 1 } })
  const strangers = [
    OF_A_PAGE,
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site, none' },
    { ...OF_A_LINK, 'sec-fetch-dest': 'iframe' },
    { origin: 'http://elsewhere.example' },
    { origin: 'null' },
  ]
  for (const headers of strangers) {
    for (const path of PLACES)
      assert.equal(await statusOf(address + path, headers), 403, `${path} ${Object.values(headers)}`)
  }
  assert.equal(agent.http.streams, 0)
  assert.equal(agent.http.refused.get('cross_site'), strangers.length * PLACES.length)
  assert.equal(await statusOf(address + STREAM, {}), 200, 'the only place for a stream is free')
})

test('programs, the page itself, and an address that a person typed are let in', async (t) => {
  const { agent, address } = await serveAgent(t)
  const { host } = new URL(address)
  const known = [
    {},
    { 'user-agent': 'Prometheus/3.1.0', 'x-prometheus-scrape-timeout-seconds': '10' },
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: address },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { origin: address },
    { origin: 'https://127.0.0.1', host },
  ]
  for (const headers of known) {
    for (const path of PLACES)
      assert.equal(
        await statusOf(address + path, headers),
        path === '/nothing' ? 404 : 200,
        `${path} ${Object.values(headers)}`,
      )
  }
  assert.equal(agent.http.refused.get('cross_site'), 0)
})

type Route = readonly [method: string, path: string]

/** The routes with a method that changes something, from the tree that Fastify prints, where a level is 4 columns. */
function changingRoutes(tree: string): Route[] {
  const path: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+) \(([A-Z, ]+)\)$/.exec(line) ?? []
    path.splice(indent.length / 4, Infinity, part)
    const changing = methods.split(', ').filter((method) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method))
    return changing.map((method): Route => [method, path.join('')])
  })
}

test('a page of another port of this machine changes nothing, also where its browser says no site', async (t) => {
  const { agent, address, app } = await serveAgent(t)
  const { hostname, host } = new URL(address)
  const changing = changingRoutes(app.printRoutes({ commonPrefix: false }))
  const known = ['POST /api/v1/simulator', 'POST /api/v1/query', 'POST /api/v1/incidents/:id/notes']
  for (const route of known)
    assert.ok(
      changing.some((one) => one.join(' ') === route),
      route,
    )
  const statusWith = async ([method, url]: Route, origin: string) => {
    const headers = { origin, 'content-type': 'application/json' }
    const body = method === 'POST' ? '{}' : null
    return (await fetch(address + url.replace(':id', '1'), { method, headers, body })).status
  }
  for (const route of changing) {
    for (const origin of [`http://${hostname}:3000`, `https://${hostname}`, 'http://elsewhere.example', 'null'])
      assert.equal(await statusWith(route, origin), 403, `${route[1]} of ${origin}`)
    assert.notEqual(await statusWith(route, `http://${host}`), 403, 'the page itself')
  }
  assert.equal(agent.http.refused.get('cross_site'), 4 * changing.length)
})

test('a link from another site opens the metrics, and nothing of the API; health is told to anybody', async (t) => {
  const { address } = await serveAgent(t)
  assert.equal(await statusOf(`${address}/metrics`, OF_A_LINK), 200)
  assert.equal(await statusOf(address + STREAM, OF_A_LINK), 403)
  assert.equal(await statusOf(`${address}/healthz`, OF_A_PAGE), 200)
})

test('a request with two hosts is refused, whatever they are', async (t) => {
  const { agent, address } = await serveAgent(t)
  for (const path of ['/metrics', '/healthz']) {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.end(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\nconnection: close\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    assert.match(
      answer,
      /^HTTP\/1\.1 400 .*"HTTP_REQUEST","message":"the request has more than one Host; allowed: one"/s,
    )
  }
  assert.equal(agent.http.refused.get('host'), 2)
})

test('what is refused before there is a request, or for its size, is counted by what was wrong', async (t) => {
  const { agent, address, app } = await serveAgent(t)
  const counted = (reason: 'header_bytes' | 'body_bytes' | 'request_time' | 'syntax') => agent.http.refused.get(reason)
  const speak = async (text: string) => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.write(text)
    let answer = ''
    for await (const chunk of socket) answer += chunk
    return Number(answer.split(' ', 2)[1])
  }
  assert.equal(await speak(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`), 431)
  assert.equal(counted('header_bytes'), 1)
  assert.equal(await speak('what is this\r\n\r\n'), 400)
  assert.equal(counted('syntax'), 1)
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ x: 'y'.repeat(300_000) })
  assert.equal((await fetch(`${address}/api/v1/query`, { method: 'POST', headers: json, body })).status, 413)
  assert.equal(counted('body_bytes'), 1)
  // Where the first is longer Node exchanges the two: a body would have that long.
  assert.ok(app.server.headersTimeout <= app.server.requestTimeout)
  app.server.requestTimeout = 1
  assert.equal(await speak('GET / HTTP/1.1\r\nhost: localhost\r\n'), 408)
  assert.equal(counted('request_time'), 1)
  await until('the count', async () =>
    /sonde_http_refused_requests_total\{reason="request_time"\} 0*1$/m.test(
      await (await fetch(`${address}/metrics`)).text(),
    ),
  )
})

test('a connection that asks for much before it has an answer is closed, and no other', async (t) => {
  const { agent, address } = await serveAgent(t)
  const { hostname, port, host } = new URL(address)
  const socket = connect(Number(port), hostname)
  const closed = once(socket, 'close')
  let answers = ''
  socket.on('data', (chunk) => {
    answers += chunk
  })
  // What is written when the other end closes fails.
  socket.on('error', () => undefined)
  const before = agent.http.requests
  socket.write(`GET /api/v1/types HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(200))
  await closed
  assert.ok(answers.split('HTTP/1.1 200').length <= 5, answers.slice(0, 200))
  assert.ok(agent.http.requests - before <= 4, 'the others were not begun')
  assert.equal(agent.http.refused.get('connections'), 1)
  assert.equal(await statusOf(`${address}/api/v1/types`, {}), 200)
})
