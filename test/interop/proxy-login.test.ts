import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ask } from '../ask.ts'
import { needs } from '../debian.ts'
import { startNginx } from '../nginx.ts'
import { assertStops, startSonde, temporaryDir } from '../sonde-process.ts'

/** Users of the login that nginx asks, as oauth2-proxy answers them, by their cookie. */
const USERS: Readonly<Record<string, readonly [name: string, groups: string]>> = {
  'login=ada': ['ada', 'staff,gpu-sre'],
  'login=bob': ['bob', 'staff'],
  'login=eve': ['eve', 'visitors'],
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Asks in the words of the test: paths are not normalised, and headers are as given. */
function send(port: number, path: string, headers: Record<string, string> = {}, from?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers, ...(from !== undefined && { localAddress: from }) }
    const asked = request(options, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += String(part)
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asked.once('error', reject)
    asked.end()
  })
}

async function startLogin(t: TestContext): Promise<number> {
  const server = createServer(({ headers }, response) => {
    const [name, groups] = USERS[headers.cookie ?? ''] ?? []
    if (name === undefined) response.writeHead(401).end()
    else response.writeHead(202, { 'x-auth-request-user': name, 'x-auth-request-groups': groups }).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('nginx with auth_request names the user, and nobody else can', { ...needs('nginx') }, async (t) => {
  const sonde = await startSonde(['up', '--only-simulated'], {
    env: {
      SONDE_ACCESS_PROXY_PEERS: '127.0.0.1',
      SONDE_ACCESS_PROXY_VIEWERS: 'staff',
      SONDE_ACCESS_PROXY_OPERATORS: 'gpu-sre',
    },
  })
  t.after(() => sonde.stop('SIGKILL'))
  const own = Number(new URL(sonde.address).port)
  const folder = temporaryDir()
  t.after(() => folder.remove())
  const login = await startLogin(t)
  const port = await startNginx(
    t,
    folder.path,
    (listen) => `http {
      access_log off;
      server {
        listen 127.0.0.1:${listen};
        location = /auth {
          internal;
          proxy_pass http://127.0.0.1:${login};
          proxy_pass_request_body off;
          proxy_set_header Content-Length "";
        }
        location / {
          auth_request /auth;
          auth_request_set $user $upstream_http_x_auth_request_user;
          auth_request_set $groups $upstream_http_x_auth_request_groups;
          proxy_pass ${sonde.address};
          proxy_set_header Host $host:$server_port;
          proxy_set_header X-Forwarded-User $user;
          proxy_set_header X-Forwarded-Groups $groups;
          proxy_set_header X-Forwarded-Proto https;
          proxy_http_version 1.1;
          proxy_buffering off;
        }
      }
    }`,
  )
  const identity = async (headers: Record<string, string>) =>
    (JSON.parse((await send(port, '/api/v1/session', headers)).text) as { identity: unknown }).identity

  assert.equal((await send(port, '/api/v1/node')).status, 401, 'nginx lets nobody in without a login')
  assert.deepEqual(await identity({ cookie: 'login=ada' }), { via: 'proxy', name: 'ada', role: 'operator' })
  assert.deepEqual(await identity({ cookie: 'login=bob' }), { via: 'proxy', name: 'bob', role: 'viewer' })
  assert.equal(await identity({ cookie: 'login=eve' }), null, 'a user without a role is nobody')
  assert.equal((await send(port, '/api/v1/node', { cookie: 'login=eve' })).status, 401)
  const claims = { 'x-forwarded-user': 'ada', 'x-forwarded-groups': 'gpu-sre' }
  assert.deepEqual(await identity({ cookie: 'login=bob', ...claims }), { via: 'proxy', name: 'bob', role: 'viewer' })
  assert.equal((await send(own, '/api/v1/node', claims, '127.0.0.2')).status, 401, 'another peer claims to be ada')
  assert.equal(
    (await send(own, '/api/v1/node', {}, '127.0.0.1')).status,
    401,
    'nor is the machine of the proxy somebody',
  )

  const q = encodeURIComponent('{"stepMs":1000,"queries":[{"metric":"sonde_process_uptime_seconds"}]}')
  const leaving = new AbortController()
  const stream = await fetch(`http://127.0.0.1:${port}/api/v1/stream?q=${q}`, {
    headers: { cookie: 'login=bob' },
    signal: leaving.signal,
  })
  assert.equal(stream.headers.get('content-type')?.split(';')[0], 'text/event-stream')
  const reader = stream.body?.getReader()
  let events = ''
  // Each second has its event: a proxy that holds them back would give none before the stream ends.
  while (events.split('event: points').length < 3) events += Buffer.from((await reader?.read())?.value ?? []).toString()
  leaving.abort()

  const elsewhere = [
    '//evil.example/',
    '/\\evil.example',
    '/%2f%2fevil.example/',
    '/nodes//evil.example',
    '/login?next=//evil.example',
  ]
  for (const path of ['/', '/gpus/', ...elsewhere]) {
    const { status, headers } = await send(port, path, { cookie: 'login=bob', accept: 'text/html' })
    assert.ok(status < 300 || status >= 400, `${path} leads elsewhere`)
    assert.equal(headers.location, undefined, path)
  }
  const upgrade = { cookie: 'login=bob', connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  assert.equal(
    (await send(port, '/api/v1/node', { ...upgrade, 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' })).status,
    200,
  )
  await assert.rejects(ask(sonde, '/api/v1/node'), /ACC_LOGIN/)
  await assertStops(sonde)
})
