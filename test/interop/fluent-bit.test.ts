// Records in a receiver that others wrote: as many as were sent, with their values.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { counter, createSchema, defineType, gauge, label, timestamp } from '@sonde/sdk'
import type { FluentBitOptions } from '../../packages/sdk/src/sinks/fluent-bit/config.ts'
import { createFluentBit } from '../../packages/sdk/src/sinks/fluent-bit/fluent-bit.ts'
import { TestCa } from '../../packages/sdk/test/certificates.ts'
import { startFluentServer } from '../../packages/sdk/test/fluent-server.mjs'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { BatchSource } from '../../packages/sdk/test/sink-records.ts'
import { needs, programPath } from '../debian.ts'
import { startNginx } from '../nginx.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const KEY = 'interop-key'
const RECORDS = 5000

const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  rx_bytes_total: counter('u64'),
  load: gauge('f64'),
})

interface Line {
  readonly type: string
  readonly source: string
  readonly labels: Readonly<Record<string, string>>
  readonly record: Readonly<Record<string, unknown>>
}

function folder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  return path
}

const SECURITY = { serverHostname: 'far', sharedKey: KEY, authorize: true, userDict: { me: 'secret' } }
const LOGIN = { sharedKey: KEY, username: 'me', password: 'secret', selfHostname: 'near' }

test('a program sends all its records, with their values, over TLS with a shared key', async (t) => {
  const ca = new TestCa(folder(t))
  const files = ca.sign('far', 'IP:127.0.0.1')
  const tlsOptions = { cert: readFileSync(files.cert), key: readFileSync(files.key) }
  const server = await startFluentServer({ security: SECURITY, tlsOptions })
  t.after(() => server.close())
  const tls = { enabled: true, caFile: ca.caFile }
  await sendAll(t, server, { port: server.port, ...LOGIN, compression: 'gzip', tls })
})

test(
  'a program sends all its records through nginx, which ends TLS and asks for a client certificate',
  needs('nginx', 'nginx-stream', 'openssl'),
  async (t) => {
    const server = await startFluentServer({ security: SECURITY })
    t.after(() => server.close())
    const dir = folder(t)
    const ca = new TestCa(dir)
    const [far, near] = [ca.sign('far', 'DNS:logs.example'), ca.sign('near', 'DNS:near')]
    const tlsPort = await startNginx(
      t,
      dir,
      (free) => `load_module ${programPath('nginx-stream')};
stream {
  server {
    listen 127.0.0.1:${free} ssl;
    ssl_certificate ${far.cert}; ssl_certificate_key ${far.key};
    ssl_client_certificate ${ca.caFile}; ssl_verify_client on;
    proxy_pass 127.0.0.1:${server.port};
  }
}`,
    )
    const tls = { enabled: true, caFile: ca.caFile, serverName: 'logs.example' }
    const own = { certFile: near.cert, keyFile: near.key }
    await sendAll(t, server, { port: tlsPort, ...LOGIN, tls: { ...tls, ...own } })
    const stranger = createFluentBit({ port: tlsPort, ...LOGIN, tls, backoffInitialMs: 10, closeTimeoutMs: 0 })
    t.after(() => stranger.close())
    stranger.accept(new BatchSource().ports({ a: 1 }))
    await until('it says why', LIMIT_MS, () => stranger.failing !== '')
    assert.equal(server.events.length, RECORDS, 'without a certificate no record arrives')
  },
)

/** Sends records from a program, and compares all of them with those that a server has. */
async function sendAll(
  t: TestContext,
  server: Awaited<ReturnType<typeof startFluentServer>>,
  fluentBit: FluentBitOptions,
): Promise<void> {
  const schema = createSchema({ name: 'app', export: { fluentBit } })
  schema.addType(port)
  await schema.start()
  t.after(() => schema.close())
  const source = schema.createSource({ id: 'nic', tag: 'lab' })
  // The receiver rounds integers beyond 2^53.
  for (let i = 0; i < RECORDS; i++) {
    source.report(port, {
      time: 1_790_000_000_000_000_000n,
      device: `eth${i % 7}`,
      rx_bytes_total: i * 1e11,
      load: i / 3,
    })
  }
  await schema.flush()
  const got = server.events.map(({ tag, record }) => {
    const { type, type_name, source, timestamp, device, rx_bytes_total, load } = record
    return [tag, type, type_name, source, timestamp, device, rx_bytes_total, load].join()
  })
  const wanted = Array.from({ length: RECORDS }, (_, i) =>
    ['sonde.port', 'events', 'port', 'nic', 1.79e15, `eth${i % 7}`, i * 1e11, i / 3].join(),
  )
  assert.equal(got.length, RECORDS)
  assert.ok(got.join('\n') === wanted.join('\n'), `first: ${got[0]}; wanted: ${wanted[0]}`)
}

test('with the documented configuration an agent sends the same records to Fluent Bit and to another destination', async (t) => {
  const server = await startFluentServer()
  t.after(() => server.close())
  const other = await HttpPeer.start(t)
  const dir = folder(t)
  const config = join(dir, 'sonde.yaml')
  const page = readFileSync(new URL('../../docs/destinations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('\n## fluent_bit\n')
  const [, documented = ''] = section.split(/^```(?:yaml)?\n/m)
  writeFileSync(
    config,
    `${documented.replace('24224', `${server.port}`)}
    linger_ms: 20
    close_timeout_ms: 60000
  jsonl: { url: '${other.url}', linger_ms: 20, sources: ['!self'], close_timeout_ms: 60000 }
`,
  )
  const flags = ['--config', config, '--data-dir', dir, '--only-simulated', '--simulate']
  const sonde = await startSonde(['up', ...flags], { env: { XDG_STATE_HOME: dir } })
  t.after(() => sonde.stop('SIGKILL'))
  await until('both have many records', LIMIT_MS, () => server.events.length > 2000 && other.bodies.length > 2)
  // The end of the agent sends what is queued.
  await sonde.stop()
  const lines = other.bodies.flatMap((body) => body.split('\n').filter(Boolean))
  assert.equal(server.events.length, lines.length)
  const sent = lines.map((line) => {
    const { type, source, labels, record } = JSON.parse(line) as Line
    return canonical(type, source, Object.entries({ ...labels, ...record }))
  })
  const got = server.events.map(({ record }) => {
    const { timestamp, type, type_name, source, ...fields } = record
    return canonical(String(type_name), String(source), Object.entries(fields))
  })
  sent.sort()
  got.sort()
  // A difference of all lines takes minutes to print.
  const different = sent.findIndex((line, i) => line !== got[i])
  assert.equal(got[different], sent[different])
})

/** A record as text that both formats have: integers as the receiver rounds them, and keys without `field_`. */
function canonical(type: string, source: string, fields: readonly (readonly [string, unknown])[]): string {
  const plain = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(plain).join()}]`
    return typeof value === 'string' && /^-?\d+$/.test(value) ? String(Number(value)) : String(value)
  }
  const all = fields.map(([key, value]) => `${key.replace(/^field_/, '')}=${plain(value)}`)
  return `${type} ${source} ${all.sort().join(' ')}`
}
