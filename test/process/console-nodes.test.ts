import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type PeerCertificate, TLSSocket } from 'node:tls'
import { Tokens } from '../../packages/console/server/access/tokens.ts'
import type { ListedNode, NodeAnswer, NodesAnswer, SessionAnswer } from '../../packages/sdk/src/api/index.ts'
import { TestCa } from '../../packages/sdk/test/certificates.ts'
import { needs } from '../debian.ts'
import { assertStops, type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
/** A server on loopback that asks for a login as one beyond it does. */
const GUARDED = { SONDE_ACCESS_REQUIRED: 'true' }

interface TlsAnswer {
  readonly status: number
  readonly text: string
  readonly cookie: string
  readonly serial: string
}

/** Asks a server with TLS, in a connection of its own. */
function askOverTls(
  address: string,
  options: object,
  init: { body?: string; headers?: object } = {},
): Promise<TlsAnswer> {
  const { body, headers } = init
  return new Promise((resolve, reject) => {
    const agent = new Agent({ maxCachedSessions: 0 })
    const method = body === undefined ? 'GET' : 'POST'
    const asked = request(address, {
      ...options,
      agent,
      method,
      headers: { 'content-type': 'application/json', ...headers },
    })
    asked.once('error', reject)
    asked.once('response', (response) => {
      assert.ok(response.socket instanceof TLSSocket)
      const { serialNumber: serial } = response.socket.getPeerCertificate() as PeerCertificate
      const cookie = response.headers['set-cookie']?.[0] ?? ''
      let text = ''
      response.on('data', (part) => {
        text += String(part)
      })
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text, cookie, serial }))
    })
    asked.end(body)
  })
}

async function tokenIn(folder: string, name: string): Promise<string> {
  const tokens = new Tokens(folder, (fault) => assert.fail(fault.message))
  return tokens.add({ name, role: 'viewer', addedBy: 'test', expiresMs: null })
}

function folderOf(t: TestContext): string {
  const folder = temporaryDir()
  t.after(() => folder.remove())
  return folder.path
}

test('a console with a login over two agents: one takes a token, one a certificate', {
  ...needs('openssl'),
}, async (t) => {
  const folder = folderOf(t)
  const ca = new TestCa(folder)
  const made = {
    first: ca.sign('first', 'IP:127.0.0.1'),
    second: ca.sign('second', 'IP:127.0.0.1'),
    console: ca.sign('console', 'DNS:console'),
    stranger: new TestCa(folder, 'other').sign('stranger', 'DNS:stranger'),
  }
  const served = { cert: join(folder, 'served.pem'), key: join(folder, 'served.key') }
  const serve = ({ cert, key }: { cert: string; key: string }) => {
    copyFileSync(cert, served.cert)
    copyFileSync(key, served.key)
  }
  serve(made.first)
  const tls = { SONDE_ACCESS_TLS_CERT_FILE: served.cert, SONDE_ACCESS_TLS_KEY_FILE: served.key }
  const dirs = ['a', 'b', 'console'].map((name) => join(folder, `access-${name}`))
  const [dirA = '', dirB = '', dirC = ''] = dirs
  for (const dir of dirs) mkdirSync(dir)
  const start = (args: string[], env: Record<string, string>): Promise<SondeProcess> => {
    const started = startSonde(args, { env: { ...GUARDED, ...env } })
    void started.then((sonde) => t.after(() => sonde.stop('SIGKILL')))
    return started
  }
  const [a, b] = await Promise.all([
    start(['agent', '--only-simulated'], { SONDE_ACCESS_DIR: dirA }),
    start(['agent', '--only-simulated'], {
      SONDE_ACCESS_DIR: dirB,
      ...tls,
      SONDE_ACCESS_TLS_CLIENT_CA_FILE: ca.caFile,
      SONDE_EXPORT_PROMETHEUS_SCRAPE_PORT: '0',
    }),
  ])
  assert.match(b.address, /^https:/)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, 'sonde_of_somebody_else')
  const c = await start(['console'], {
    SONDE_ACCESS_DIR: dirC,
    SONDE_CONSOLE_AGENTS_URLS: `a=${a.address},b=${b.address},gone=http://127.0.0.1:1`,
    SONDE_CONSOLE_AGENTS_TOKEN_FILE: tokenFile,
    SONDE_CONSOLE_AGENTS_CERT_FILE: made.console.cert,
    SONDE_CONSOLE_AGENTS_KEY_FILE: made.console.key,
    SONDE_CONSOLE_AGENTS_CA_FILE: ca.caFile,
  })
  const headers = { authorization: `Bearer ${await tokenIn(dirC, 'reader')}` }
  const ask = (path: string) => fetch(`${c.address}/api/v1/nodes${path}`, { headers })
  const nodeOf = async (name: string): Promise<ListedNode | undefined> =>
    ((await (await ask('')).json()) as NodesAnswer).nodes.find((node) => node.name === name)
  const untilNode = (name: string, what: string, holds: (node: ListedNode) => boolean) =>
    until(`${name} ${what}`, LIMIT_MS, async () => {
      const node = await nodeOf(name)
      return node !== undefined && holds(node) && node
    })

  assert.equal((await fetch(`${c.address}/api/v1/nodes`)).status, 401, 'a reader needs a login')
  assert.equal((await fetch(`${a.address}/api/v1/node`)).status, 401)
  assert.equal((await fetch(`${a.address}/metrics`)).status, 200)
  assert.match(
    (await untilNode('a', 'refuses', ({ state }) => state === 'refused')).reason,
    /refuses this console.*token_file/,
  )
  writeFileSync(tokenFile, await tokenIn(dirA, 'console'))
  // The certificate counts where the token does not: b has never heard of it.
  const seen = await Promise.all(
    ['a', 'b'].map((name) =>
      untilNode(name, 'has versions', ({ versions }) => versions.some(({ of }) => of === 'firmware')),
    ),
  )
  for (const { versions, state } of seen) {
    assert.equal(state, 'reachable')
    assert.ok(versions.every(({ standing }) => standing === 'common'))
    assert.deepEqual(
      [...new Set(versions.map(({ of }) => of))],
      ['Sonde', 'kernel', 'GPU driver', 'NIC driver', 'firmware'],
    )
  }
  for (const path of ['/a/node', '/b/hints', '/b/explain?of=simulator', '/a/devices', '/b/incidents'])
    assert.equal((await ask(path)).status, 200, path)
  const leaving = new AbortController()
  const q = encodeURIComponent('{"stepMs":1000,"queries":[{"metric":"sonde_process_uptime_seconds"}]}')
  const stream = await fetch(`${c.address}/api/v1/nodes/b/stream?q=${q}`, { headers, signal: leaving.signal })
  assert.match(Buffer.from((await stream.body?.getReader().read())?.value ?? []).toString(), /^(id|event|retry|:)/)
  leaving.abort()

  const asClient = { ca: pem(ca.caFile), cert: pem(made.console.cert), key: pem(made.console.key) }
  const session = JSON.parse((await askOverTls(`${b.address}/api/v1/session`, asClient)).text) as SessionAnswer
  assert.deepEqual(session.identity, { via: 'certificate', name: 'console', role: 'viewer' })
  const asStranger = { ca: asClient.ca, cert: pem(made.stranger.cert), key: pem(made.stranger.key) }
  assert.equal((await askOverTls(`${b.address}/api/v1/node`, asStranger)).status, 401)
  const body = JSON.stringify({ token: await tokenIn(dirB, 'page') })
  const { cookie } = await askOverTls(`${b.address}/api/v1/login`, { ca: asClient.ca }, { body })
  assert.match(cookie, /; HttpOnly; SameSite=Strict; .*; Secure$/)

  const scrapes = `https://127.0.0.1:${/metrics alone on port (\d+)/.exec(b.output())?.[1]}`
  assert.equal((await askOverTls(`${scrapes}/metrics`, asClient)).status, 200)
  assert.equal((await askOverTls(`${scrapes}/api/v1/node`, asClient)).status, 404, 'the port of scrapes has no API')

  const first = await askOverTls(`${b.address}/healthz`, asClient)
  serve(made.second)
  await until('the new certificate is shown', LIMIT_MS, async () => {
    return (await askOverTls(`${b.address}/healthz`, asClient)).serial !== first.serial
  })
  const { serial } = await askOverTls(`${b.address}/healthz`, asClient)
  copyFileSync(made.first.cert, served.cert)
  const told = await until('the broken pair is told', LIMIT_MS, async () => {
    const { certificate } = JSON.parse((await askOverTls(`${b.address}/api/v1/node`, asClient)).text) as NodeAnswer
    return certificate?.fault !== '' && certificate
  })
  assert.match(told.fault, /served\.pem.*do not fit together/)
  assert.ok(told.endsMs > Date.now())
  assert.equal((await askOverTls(`${b.address}/healthz`, asClient)).serial, serial, 'the last good pair is shown')
  assert.equal(b.output().split('the certificate before stays in use').length, 2, 'told once')

  await a.stop('SIGKILL')
  assert.match(
    (await untilNode('a', 'is gone', ({ state }) => state === 'unreachable')).reason,
    /refuses the connection/,
  )
  assert.equal((await ask('/a/hints')).status, 503)
  assert.equal((await ask('/b/hints')).status, 200)
  for (const sonde of [b, c]) assert.doesNotMatch(sonde.output(), /sonde_[\w-]{43}|PRIVATE KEY/)
  await assertStops(c)
  await assertStops(b)
})

function pem(path: string): string {
  return readFileSync(path, 'utf8')
}
