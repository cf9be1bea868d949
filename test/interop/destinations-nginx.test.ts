// A real TLS terminator before the far end of a destination: nginx, which asks for a client certificate.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonlOptions } from '../../packages/sdk/src/sinks/jsonl/config.ts'
import { createJsonl } from '../../packages/sdk/src/sinks/jsonl/jsonl.ts'
import { TestCa } from '../../packages/sdk/test/certificates.ts'
import { until } from '../../packages/sdk/test/helper.ts'
import { HttpPeer } from '../../packages/sdk/test/http-peer.ts'
import { BatchSource } from '../../packages/sdk/test/sink-records.ts'
import { needs } from '../debian.ts'
import { startNginx } from '../nginx.ts'

test(
  'records arrive through nginx with TLS and a client certificate, each once',
  needs('nginx', 'openssl'),
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'sonde-nginx-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const [ca, other] = [new TestCa(folder), new TestCa(folder, 'other')]
    const [own, client] = [ca.sign('server', 'IP:127.0.0.1'), ca.sign('client', 'DNS:client')]
    const peer = await HttpPeer.start(t)
    const port = await startTerminator(t, folder, { peer: peer.url, ca: ca.caFile, ...own })
    const url = `https://127.0.0.1:${port}/records`
    const tls = { caFile: ca.caFile, certFile: client.cert, keyFile: client.key }
    const open = (options: Partial<JsonlOptions>) => {
      const sink = createJsonl({
        url,
        lingerMs: 0,
        backoffInitialMs: 10,
        backoffMaxMs: 10,
        closeTimeoutMs: 100,
        ...options,
      })
      t.after(() => sink.close())
      return sink
    }
    const ports = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`eth${n}`, n]))

    const sink = open({ tls, compression: 'none' })
    const source = new BatchSource()
    for (let round = 0; round < 5; round++) {
      sink.accept(source.ports(ports))
      await sink.flush()
    }
    const lines = peer.bodies.join('').trimEnd().split('\n')
    assert.deepEqual([lines.length, sink.stats.out], [5000, 5000])
    const sum = lines.reduce((total, line) => total + Number(JSON.parse(line).record.rx_bytes_total), 0)
    assert.equal(sum, (5 * 999 * 1000) / 2)

    const unshown = open({ tls: { caFile: ca.caFile } })
    unshown.accept(source.ports({ a: 1 }))
    await assert.rejects(unshown.flush(), /1 rejected: HTTP 400 /)

    const failing = async (options: Partial<JsonlOptions>, words: RegExp) => {
      const untrusting = open(options)
      untrusting.accept(source.ports({ a: 1 }))
      await until(String(words), () => words.test(untrusting.failing))
      assert.equal(untrusting.stats.out, 0)
    }
    await failing({ tls: { ...tls, caFile: other.caFile } }, /has a certificate that is not trusted: /)
    await failing({ tls: { ...tls, serverName: 'collector.example' } }, /not trusted: .*collector\.example/)
    assert.equal(peer.bodies.length, 5, 'no record went to a far end that was not trusted')

    const trusting = open({ tls: { ...tls, caFile: other.caFile, verify: false } })
    trusting.accept(source.ports({ a: 1 }))
    await trusting.flush()
    assert.equal(peer.bodies.length, 6)
  },
)

interface Terminator {
  /** The address of the server behind it. */
  readonly peer: string
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Starts nginx with the server behind it. */
function startTerminator(t: TestContext, folder: string, { peer, ca, cert, key }: Terminator): Promise<number> {
  for (const name of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']) mkdirSync(join(folder, name))
  const paths = ['fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`)
  return startNginx(
    t,
    folder,
    (port) => `http {
  access_log off; client_max_body_size 64m;
  client_body_temp_path ${join(folder, 'body')}; proxy_temp_path ${join(folder, 'proxy')}; ${paths.join(' ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${cert}; ssl_certificate_key ${key};
    ssl_client_certificate ${ca}; ssl_verify_client on;
    location / { proxy_pass ${new URL(peer).origin}; }
  }
}`,
  )
}
