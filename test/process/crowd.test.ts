import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { metricsOf, numberOn } from '../ask.ts'
import { startSonde } from '../sonde-process.ts'

const CONNECTIONS = 32
const STREAM = `/api/v1/stream?q=${encodeURIComponent('{"queries":[{"metric":"netdev_rx_bytes_total"}]}')}`
/** Texts that an attacker's connections send to keep the server from its other clients. */
const WAYS = [
  '',
  'GET /metrics HTTP/1.1\r\nhost: loc',
  'POST /api/v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
  'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(20),
  `GET ${STREAM} HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: cross-site\r\n\r\n`,
]

test('who takes all connections, in any way, shuts out neither a scraper nor a page', async (t) => {
  const env = { SONDE_LIMITS_CONNECTIONS: String(CONNECTIONS), SONDE_LIMITS_STREAM_CLIENTS: '4' }
  const sonde = await startSonde(['agent', '--log-level', 'error'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const { hostname, port } = new URL(sonde.address)
  const page = get(sonde.address + STREAM, { agent: false }).on('error', () => undefined)
  const [stream] = (await once(page, 'response')) as [IncomingMessage]
  t.after(() => page.destroy())
  let events = 0
  stream.on('data', () => events++)

  const crowd = new Set<Socket>()
  t.after(() => {
    for (const socket of crowd) socket.destroy()
  })
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 2 * CONNECTIONS; i++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined)
      crowd.add(socket)
      socket.once('close', () => crowd.delete(socket)).pause()
      socket.write(WAYS[i % WAYS.length] as string)
    }
    const before = events
    // A new connection each time, as when a scraper starts.
    const answer = await fetch(`${sonde.address}/metrics`, { headers: { connection: 'close' } })
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /^host_cpu/m)
    if (events === before) await once(stream, 'data')
  }
  assert.equal(stream.closed, false, 'the stream of the page is open')
  assert.ok((numberOn(await metricsOf(sonde), 'sonde_http_refused_requests_total{reason="connections"}') ?? 0) > 0)
})
