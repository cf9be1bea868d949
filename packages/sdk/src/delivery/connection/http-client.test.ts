import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { TestCa } from '../../../test/certificates.ts'
import { until } from '../../../test/helper.ts'
import type { HttpOptions } from './config.ts'
import { HttpClient, type HttpProtocol, httpRequest } from './http-client.ts'
import { proxyFor } from './proxy.ts'

const never = () => new AbortController().signal

/** Listens on a free port of loopback until the test ends. */
async function listen(t: TestContext, server: ReturnType<typeof createSocketServer>): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(t, createServer(answer))}/records`
}

/** A server that sends raw bytes once a request has arrived. */
async function serveRaw(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createSocketServer((socket) => socket.once('data', () => answer(socket)))
  return `http://127.0.0.1:${await listen(t, server)}/`
}

function clientOf(t: TestContext, options: HttpOptions, protocol: Partial<HttpProtocol> = {}): HttpClient {
  const client = new HttpClient({ name: 'test', contentType: 'text/plain', ...protocol }, options)
  t.after(() => client.close())
  return client
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-http-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A proxy that only tunnels, and keeps the requests that it got. */
async function startProxy(t: TestContext, asked: string[], status = '200 ok'): Promise<number> {
  const server = createSocketServer((socket) => {
    socket.once('data', (bytes) => {
      const head = bytes.toString()
      asked.push(head)
      const [, port] = /^CONNECT 127\.0\.0\.1:(\d+) /.exec(head) ?? []
      socket.write(`HTTP/1.1 ${status}\r\n\r\n`)
      if (status !== '200 ok') return
      const far = connect(Number(port), '127.0.0.1')
      far.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.on('close', () => far.destroy())
      socket.pipe(far).pipe(socket)
    })
  })
  return listen(t, server)
}

test('a body arrives whole, packed as the option says, with one key in all its attempts', async (t) => {
  const seen: { readonly key: unknown; readonly encoding: unknown; readonly body: Buffer }[] = []
  const url = await serve(t, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { 'idempotency-key': key, 'content-encoding': encoding } = request.headers
      seen.push({ key, encoding, body: Buffer.concat(pieces) })
      response.writeHead(seen.length % 2 === 0 ? 204 : 503).end()
    })
  })
  const text = 'a line\n'.repeat(10_000)
  const unpack = { none: (body: Buffer) => body, gzip: gunzipSync, zstd: zstdDecompressSync }
  const keys = new Set<unknown>()
  for (const compression of ['none', 'gzip', 'zstd'] as const) {
    const client = clientOf(t, { url, compression })
    const request = httpRequest(text)
    assert.equal((await client.send(request, never())).outcome, 'retry')
    assert.deepEqual(await client.send(request, never()), { outcome: 'ok' })
    const [first, second] = seen.splice(0)
    assert.equal(first?.key, second?.key)
    assert.equal(first?.encoding, compression === 'none' ? undefined : compression)
    for (const each of [first, second])
      assert.equal(unpack[compression](each?.body ?? Buffer.alloc(0)).toString(), text)
    keys.add(first?.key)
  }
  assert.equal(keys.size, 3, 'each request has its own key')
})

test('connections are kept, and a kept connection that was closed costs no attempt', async (t) => {
  let connections = 0
  const server: Server = createServer({ keepAliveTimeout: 0 }, (_, response) => response.writeHead(204).end())
  server.on('connection', () => connections++)
  const client = clientOf(t, { url: `http://127.0.0.1:${await listen(t, server)}/` })
  for (let i = 0; i < 3; i++) assert.equal((await client.send(httpRequest('a'), never())).outcome, 'ok')
  assert.equal(connections, 1)
  server.closeAllConnections()
  assert.equal((await client.send(httpRequest('a'), never())).outcome, 'ok')
  assert.equal(connections, 2)
})

test('the far end says when to come back, and each protocol which answers are retried', async (t) => {
  let status = 429
  const url = await serve(t, (_, response) => response.writeHead(status, { 'retry-after': '7' }).end('too much\nx'))
  const client = clientOf(t, { url })
  const busy = { outcome: 'retry', reason: 'HTTP 429 too much', afterMs: 7000 }
  assert.deepEqual(await client.send(httpRequest('a'), never()), busy)
  const strict = clientOf(t, { url }, { retried: new Set([503]) })
  assert.deepEqual(await strict.send(httpRequest('a'), never()), { outcome: 'reject', reason: 'HTTP 429 too much' })
  status = 503
  assert.equal((await strict.send(httpRequest('a'), never())).outcome, 'retry')
})

test('a redirect is refused, wherever it leads, and its target learns nothing', async (t) => {
  let asked = 0
  const target = await serve(t, (_, response) => {
    asked++
    response.end()
  })
  for (const location of [target, 'file:///etc/passwd', '//127.0.0.1/']) {
    const url = await serve(t, (_, response) => response.writeHead(307, { location }).end())
    const result = await clientOf(t, { url, token: 'hush' }).send(httpRequest('a'), never())
    assert.deepEqual(result, { outcome: 'reject', reason: 'HTTP 307 redirects, which is not followed' })
  }
  assert.equal(asked, 0)
})

test('an endless answer is cut off, and a slow answer holds up nobody whose records have arrived', async (t) => {
  let written = 0
  const endless = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 400 no\r\ntransfer-encoding: chunked\r\n\r\n')
    const piece = `400\r\n${'x'.repeat(1024)}\r\n`
    const pump = () => {
      while (!socket.destroyed && written < 1 << 30) {
        written += piece.length
        if (!socket.write(piece)) return
      }
    }
    socket.on('drain', pump)
    pump()
  })
  const refused = await clientOf(t, { url: endless }).send(httpRequest('a'), never())
  assert.ok(refused.outcome === 'reject' && refused.reason.length === 200)
  assert.ok(written < 64 << 20, String(written))

  let closed = false
  const slow = await serveRaw(t, (socket) => {
    socket.on('close', () => {
      closed = true
    })
    socket.write('HTTP/1.1 200 ok\r\ncontent-length: 1000\r\n\r\nx')
  })
  assert.deepEqual(await clientOf(t, { url: slow }).send(httpRequest('a'), never()), { outcome: 'ok' })
  await until('the slow connection is given up', () => closed)
})

test('an attempt that is aborted ends, while the answer trickles in', async (t) => {
  let closed = false
  const url = await serveRaw(t, (socket) => {
    socket.on('close', () => {
      closed = true
    })
    socket.write('HTTP/1.1 503 no\r\ncontent-length: 1000\r\n\r\nx')
  })
  const controller = new AbortController()
  const attempt = clientOf(t, { url }).send(httpRequest('a'), controller.signal)
  setImmediate(() => controller.abort())
  await assert.rejects(attempt)
  await until('the connection is closed', () => closed)
})

test('the next address takes over, and the reason names the address that fails', async (t) => {
  const bodies: string[] = []
  const bad = await serve(t, (_, response) => response.writeHead(500).end('disk full'))
  const good = await serve(t, (request, response) => {
    request.on('data', (piece) => bodies.push(String(piece)))
    request.on('end', () => response.end())
  })
  const client = clientOf(t, { url: bad, endpoints: [good] })
  const request = httpRequest('a')
  assert.deepEqual(await client.send(request, never()), { outcome: 'retry', reason: `${bad}: HTTP 500 disk full` })
  assert.deepEqual(await client.send(request, never()), { outcome: 'ok' })
  assert.deepEqual(bodies, ['a'])
})

test('a name without an address and a closed port are told in words', async (t) => {
  const gone = clientOf(t, { url: 'http://no-such-host.invalid:4318/' })
  await assert.rejects(gone.send(httpRequest('a'), never()), /^Error: no-such-host\.invalid:4318 has no address: /)
  const closed = clientOf(t, { url: 'http://127.0.0.1:1/' })
  await assert.rejects(
    closed.send(httpRequest('a'), never()),
    /^Error: 127\.0\.0\.1:1 cannot be reached: connect ECONN/,
  )
})

test('TLS goes through a proxy, which sees only host and port, and the far end sees the client certificate', async (t) => {
  const ca = new TestCa(folderOf(t))
  const [own, client] = [ca.sign('server', 'IP:127.0.0.1'), ca.sign('client', 'DNS:client')]
  const files = { key: readFileSync(own.key), cert: readFileSync(own.cert), ca: readFileSync(ca.caFile) }
  const bodies: string[] = []
  const server = createSecureServer({ ...files, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    request.on('data', (piece) => bodies.push(String(piece)))
    request.on('end', () => response.end())
  })
  const url = `https://127.0.0.1:${await listen(t, server)}/`
  const asked: string[] = []
  const proxy = `http://me:hush@127.0.0.1:${await startProxy(t, asked)}`
  const tls = { caFile: ca.caFile, certFile: client.cert, keyFile: client.key }
  assert.deepEqual(await clientOf(t, { url, proxy, tls }).send(httpRequest('a'), never()), { outcome: 'ok' })
  assert.deepEqual(bodies, ['a'])
  const { host } = new URL(url)
  const login = Buffer.from('me:hush').toString('base64')
  assert.deepEqual(asked, [`CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\nproxy-authorization: Basic ${login}\r\n\r\n`])

  const unknown = clientOf(t, { url, tls: { certFile: client.cert, keyFile: client.key } })
  await assert.rejects(unknown.send(httpRequest('a'), never()), /has a certificate that is not trusted: /)
  const renamed = clientOf(t, { url, tls: { ...tls, serverName: 'other.example' } })
  await assert.rejects(renamed.send(httpRequest('a'), never()), /not trusted: .*other\.example/)
  const refused = `http://me:hush@127.0.0.1:${await startProxy(t, [], '407 no')}`
  await assert.rejects(clientOf(t, { url, proxy: refused, tls }).send(httpRequest('a'), never()), (error: Error) => {
    assert.match(error.message, /^the proxy 127\.0\.0\.1:\d+ does not connect to 127\.0\.0\.1:\d+: HTTP 407$/)
    return true
  })
})

test('a proxy gets the whole address of a plain request', async (t) => {
  const seen: unknown[] = []
  const proxy = await serve(t, (request, response) => {
    seen.push(request.url, request.headers.host, request.headers['proxy-authorization'])
    response.end()
  })
  const options = { url: 'http://collector.invalid/records?a=1', proxy: proxy.replace('//', '//me:hush@') }
  assert.deepEqual(await clientOf(t, options).send(httpRequest('a'), never()), { outcome: 'ok' })
  const login = `Basic ${Buffer.from('me:hush').toString('base64')}`
  assert.deepEqual(seen, [options.url, 'collector.invalid', login])
})

test('the environment names a proxy, with exceptions', () => {
  const proxyOf = (address: string, environment: Record<string, string>, option?: string) =>
    proxyFor(new URL(address), option, environment)?.host
  const both = { http_proxy: 'http://plain:1', HTTPS_PROXY: 'http://secure:2' }
  assert.equal(proxyOf('http://a.example/', both), 'plain:1')
  assert.equal(proxyOf('https://a.example/', both), 'secure:2')
  assert.equal(proxyOf('https://a.example/', both, 'none'), undefined)
  assert.equal(proxyOf('https://a.example/', both, 'http://own:3'), 'own:3')
  for (const host of ['localhost', '127.0.0.2', '[::1]', 'a.localhost'])
    assert.equal(proxyOf(`http://${host}/`, both), undefined, host)
  const isExcepted = (no_proxy: string, host: string) => proxyOf(`http://${host}/`, { ...both, no_proxy }) === undefined
  for (const rule of ['*', 'a.example', '.example', '*.example', 'b, a.example', 'A.EXAMPLE', 'a.example:80'])
    assert.ok(isExcepted(rule, 'a.example'), rule)
  for (const rule of ['', 'example.com', 'xample', 'a.example:81', '10.0.0.0/8'])
    assert.ok(!isExcepted(rule, 'a.example'), rule)
  for (const rule of ['10.0.0.0/8', '10.1.2.3', '10.1.2.3:80']) assert.ok(isExcepted(rule, '10.1.2.3'), rule)
  for (const rule of ['11.0.0.0/8', '10.0.0.0/99', 'fd00::/8']) assert.ok(!isExcepted(rule, '10.1.2.3'), rule)
  for (const rule of ['fd00::/8', 'fd00::1', '[fd00::1]:80']) assert.ok(isExcepted(rule, '[fd00::1]'), rule)
})
