import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { SondeError } from '@sonde/sdk'
import { checkOutboundUrl, parseOutboundUrl, type Resolve } from './address-rule.ts'
import { OutboundClient } from './outbound-client.ts'

const GET = { method: 'GET', limitMs: 20_000 } as const
/** Part of every URL: no message may show it. */
const SECRET = 'hunter2'

/** The address of a server that runs until the end of the test. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  return `${await listen(t, server)}/${SECRET}?key=${SECRET}`
}

async function listen(t: TestContext, server: Pick<Server, 'listen' | 'close' | 'address'>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    if ('closeAllConnections' in server) (server as Server).closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function withCode(code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof SondeError, String(error))
    assert.equal(error.code, code, error.message)
    assert.ok(!error.message.includes(SECRET), error.message)
    return true
  }
}

const answers = (...addresses: readonly string[]): Resolve => {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

describe('a URL is refused for its scheme, its host or its literal address:', () => {
  const cases: readonly (readonly [url: string, code: string, allowsPrivate?: boolean])[] = [
    ['', 'OUT_URL'],
    [`file:///etc/${SECRET}`, 'OUT_URL', true],
    [`gopher://example.com/${SECRET}`, 'OUT_URL', true],
    [`//example.com/${SECRET}`, 'OUT_URL'],
    [`http:///${SECRET}@`, 'OUT_URL', true],
    ['http://localhost/', 'OUT_ADDRESS'],
    ['http://a.LOCALHOST./', 'OUT_ADDRESS'],
    [`http://u:${SECRET}@127.0.0.1/`, 'OUT_ADDRESS'],
    ['http://2130706433/', 'OUT_ADDRESS'],
    ['http://0x7f.1/', 'OUT_ADDRESS'],
    ['http://0177.0.0.1/', 'OUT_ADDRESS'],
    ['http://127.0.0.1./', 'OUT_ADDRESS'],
    ['http://①②⑦.0.0.1/', 'OUT_ADDRESS'],
    ['http://[::ffff:127.0.0.1]/', 'OUT_ADDRESS'],
    ['http://10.1.2.3/', 'OUT_ADDRESS'],
    ['http://169.254.169.254/latest', 'OUT_ADDRESS', true],
    ['http://0xa9fea9fe/latest', 'OUT_ADDRESS', true],
    ['http://[fd00:ec2::254]/', 'OUT_ADDRESS', true],
    ['http://[fe80::1]/', 'OUT_ADDRESS', true],
    ['http://0.0.0.0/', 'OUT_ADDRESS', true],
    ['http://100.64.0.1/', 'OUT_ADDRESS', true],
    ['http://224.0.0.1/', 'OUT_ADDRESS', true],
  ]
  for (const [url, code, allowsPrivate = false] of cases) {
    test(`${url} ${allowsPrivate ? 'of the operator' : ''}`, async () => {
      assert.throws(() => parseOutboundUrl(url, { allowsPrivate }), withCode(code))
      await assert.rejects(new OutboundClient({ allowsPrivate }).open({ url, ...GET }), withCode(code))
    })
  }

  test('loopback and private addresses are for the operator, and public ones for all', () => {
    for (const host of ['127.0.0.1', 'localhost', '10.1.2.3', '[fd12::1]'])
      assert.ok(parseOutboundUrl(`http://${host}/`, { allowsPrivate: true }))
    assert.ok(parseOutboundUrl('https://93.184.216.34/'))
  })
})

describe('a name is refused for its addresses:', () => {
  const name = `http://collector.example/${SECRET}`
  test('if one of them is not allowed, at the time of setting and of connecting', async () => {
    const resolve = answers('93.184.216.34', '127.0.0.1')
    await assert.rejects(checkOutboundUrl(name, { resolve }), withCode('OUT_ADDRESS'))
    await assert.rejects(new OutboundClient({ resolve }).open({ url: name, ...GET }), withCode('OUT_ADDRESS'))
  })

  test('if nobody knows one', async () => {
    const resolve = () => Promise.reject(new Error(`ENOTFOUND ${SECRET}`))
    await assert.rejects(checkOutboundUrl(name, { resolve }), withCode('OUT_LOOKUP'))
    await assert.rejects(checkOutboundUrl(name, { resolve: answers() }), withCode('OUT_LOOKUP'))
  })

  test('if they changed since the check: nothing connects', async (t) => {
    let connections = 0
    const server = createSocketServer(() => connections++)
    const { port } = new URL(await listen(t, server as unknown as Server))
    const turns = ['93.184.216.34', '127.0.0.1']
    const resolve: Resolve = (host) => answers(turns.shift() ?? '')(host)
    const url = await checkOutboundUrl(`http://rebound.example:${port}/${SECRET}`, { resolve })
    await assert.rejects(new OutboundClient({ resolve }).open({ url: url.href, ...GET }), withCode('OUT_ADDRESS'))
    assert.deepEqual(turns, [])
    assert.equal(connections, 0)
  })

  test('and the connection goes to the address that was checked, whatever the resolver says next', async (t) => {
    const { port } = new URL(await serve(t, (_request, response) => response.end('here')))
    let asked = 0
    const resolve: Resolve = (host) => answers(asked++ === 0 ? '127.0.0.1' : '169.254.169.254')(host)
    const client = new OutboundClient({ allowsPrivate: true, resolve })
    assert.equal((await client.send({ url: `http://once.example:${port}/`, ...GET })).status, 200)
    assert.equal(asked, 1)
  })
})

describe('a server in trouble:', () => {
  const client = new OutboundClient({ allowsPrivate: true })

  test('a redirect is an answer, and its target gets no request', async (t) => {
    let followed = 0
    const target = await serve(t, (_request, response) => response.end(String(followed++)))
    const url = await serve(t, (_request, response) => response.writeHead(302, { location: target }).end())
    const answer = await client.send({ url, ...GET })
    assert.equal(answer.status, 302)
    assert.equal(answer.header('location'), target)
    assert.equal(followed, 0)
  })

  test('the status of an endless answer is known, and its connection is closed', async (t) => {
    const closed = Promise.withResolvers<void>()
    const url = await serve(t, (_request, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      }
      response.on('drain', more).on('close', () => closed.resolve())
      more()
    })
    assert.equal((await client.send({ url, ...GET })).status, 200)
    await closed.promise
  })

  test('a body that never ends fails whoever reads it', async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(200).write('begin'))
    const response = await client.open({ url, method: 'GET', limitMs: 200 })
    const read = async () => {
      for await (const _piece of response);
    }
    await assert.rejects(read(), withCode('OUT_TIMEOUT'))
  })

  test('no answer, an answer of headers without end, and no answer while the caller stops', async (t) => {
    const silent = await serve(t, () => undefined)
    await assert.rejects(client.open({ url: silent, method: 'GET', limitMs: 100 }), withCode('OUT_TIMEOUT'))
    const signal = AbortSignal.timeout(20)
    await assert.rejects(client.open({ url: silent, ...GET, signal }), withCode('OUT_STOPPED'))
    const aborted = AbortSignal.abort()
    await assert.rejects(client.open({ url: silent, ...GET, signal: aborted }), withCode('OUT_STOPPED'))
    const drip = createSocketServer((socket) => {
      socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n')
      for (let count = 0; count < 100; count++) socket.write(`x-${count}: ${'y'.repeat(1000)}\r\n`)
    })
    const url = await listen(t, drip as unknown as Server)
    await assert.rejects(client.open({ url: `${url}/${SECRET}`, ...GET }), withCode('OUT_CONNECT'))
  })

  test('nobody listens, and a name that is none', async (t) => {
    const gone = createSocketServer()
    const url = await listen(t, gone as unknown as Server)
    await new Promise((resolve) => gone.close(resolve))
    await assert.rejects(client.open({ url: `${url}/${SECRET}`, ...GET }), withCode('OUT_CONNECT'))
    await assert.rejects(client.open({ url: `http://%zz:${SECRET}@127.0.0.1:1/`, ...GET }), withCode('OUT_URL'))
  })

  test('a name whose lookup never ends', async () => {
    const hanging = new OutboundClient({ resolve: () => new Promise(() => undefined) })
    const asked = { url: `http://slow.example/${SECRET}`, ...GET, connectLimitMs: 50 }
    await assert.rejects(hanging.open(asked), withCode('OUT_TIMEOUT'))
  })

  test('a kept connection that the server closed meanwhile', async (t) => {
    let connections = 0
    const closed = Promise.withResolvers<void>()
    const server = createSocketServer((socket) => {
      connections++
      let requests = 0
      socket
        .on('error', () => undefined)
        .on('data', () => {
          // The first connection takes one request, and breaks off at the second.
          if (connections === 1 && ++requests === 2) socket.resetAndDestroy()
          else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
        })
      socket.on('close', () => closed.resolve())
    })
    const url = `${await listen(t, server as unknown as Server)}/${SECRET}`
    const keeping = new OutboundClient({ allowsPrivate: true, keepsConnections: true })
    t.after(() => keeping.close())
    for (let count = 0; count < 2; count++) assert.equal((await keeping.send({ url, ...GET })).status, 200)
    await closed.promise
    assert.equal(connections, 2)
  })

  test('no proxy of the environment is asked', async (t) => {
    let proxied = 0
    const proxy = await serve(t, (_request, response) => response.end(String(proxied++)))
    const url = await serve(t, (_request, response) => response.end('direct'))
    const before = { ...process.env }
    t.after(() => {
      process.env = before
    })
    Object.assign(process.env, { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: new URL(proxy).origin })
    assert.equal((await client.send({ url, ...GET })).status, 200)
    assert.equal(proxied, 0)
  })
})

test('an agent may be at a shared address, and at that of no metadata service', () => {
  const rule = { allowsPrivate: true, allowsShared: true }
  for (const host of ['100.64.3.4', '10.0.0.17', '240.0.0.1']) parseOutboundUrl(`http://${host}:9394`, rule)
  for (const host of ['169.254.169.254', '[fe80::1]', '0.0.0.0', '224.0.0.1'])
    assert.throws(() => parseOutboundUrl(`http://${host}:9394`, rule), { code: 'OUT_ADDRESS' }, host)
})
