import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { TestCa } from '../../test/certificates.ts'
import { boundConnections } from './bound-connections.ts'

test('with TLS a connection counts once, from its first byte to its end, and the idle one makes room', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-bound-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { cert, key } = new TestCa(folder).sign('server', 'IP:127.0.0.1')
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_request, answer) =>
    answer.end('x'),
  )
  let closedCount = 0
  boundConnections(server, { count: 3, silenceMs: 60_000, onClosed: () => closedCount++ })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const ask = async () => {
    const asked = request({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false }).end()
    const [answer] = await once(asked, 'response')
    answer.resume()
    await once(answer, 'close')
  }
  // Each ends before the next: none of them is in the way of another.
  for (let count = 0; count < 8; count++) await ask()
  assert.equal(closedCount, 0)
  const silent = connect(port, '127.0.0.1')
  const held = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => {
    silent.destroy()
    held.destroy()
  })
  await Promise.all([once(silent, 'connect'), once(held, 'secureConnect')])
  silent.resume()
  const isClosed = once(silent, 'close')
  const others: Socket[] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  for (const other of others) t.after(() => other.destroy())
  await isClosed
  assert.ok(closedCount >= 1)
})
