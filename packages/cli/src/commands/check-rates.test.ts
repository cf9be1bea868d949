import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ANSWER_LIMIT_BYTES } from './agent-answer.ts'
import { ratesAt } from './check-rates.ts'

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const RATE = { source: 'a', tag: '', type: 'f', series: 2, recordsPerS: 2, present: { rx: 2 } }

test('an answer of an agent is read, and one that is no such answer says why there is no estimate', async (t) => {
  let body = ''
  const place = await serve(t, (_request, response) => response.end(body))
  const answer = { types: [{ fingerprint: 'f', definition: { name: 'port', fields: [] } }], rates: [RATE], leftOut: 0 }
  body = JSON.stringify(answer)
  assert.deepEqual(await ratesAt(place), answer)
  const wrong: unknown[] = [
    'no object',
    { ...answer, types: undefined },
    { ...answer, types: [{ fingerprint: 'f', definition: null }] },
    { ...answer, rates: [{ ...RATE, series: '2' }] },
    { ...answer, rates: [{ ...RATE, recordsPerS: -1 }] },
    { ...answer, rates: [{ ...RATE, present: { rx: 1.5 } }] },
    { ...answer, leftOut: undefined },
  ]
  for (const each of wrong) {
    body = JSON.stringify(each)
    assert.equal(await ratesAt(place), `the program at ${place} is no agent of this version`, body)
  }
  body = '<html>'
  assert.equal(await ratesAt(place), `the program at ${place} is no agent of this version`)
})

test('another status, a redirect, an answer without end and a closed port give no rates', async (t) => {
  const refusing = await serve(t, (_request, response) => response.writeHead(404).end())
  assert.equal(await ratesAt(refusing), `${refusing} answers 404`)
  const redirecting = await serve(t, (_request, response) => response.writeHead(302, { location: refusing }).end())
  assert.match(String(await ratesAt(redirecting)), /^no agent answers at /)
  let sentBytes = 0
  const endless = await serve(t, (_request, response) => {
    const piece = Buffer.alloc(1 << 20, ' ')
    const more = () => {
      while (!response.destroyed && response.write(piece)) sentBytes += piece.length
    }
    response.on('drain', more)
    more()
  })
  assert.match(String(await ratesAt(endless)), /^no agent answers at /)
  assert.ok(sentBytes < ANSWER_LIMIT_BYTES * 2, `${sentBytes} bytes`)
  const closed = 'http://127.0.0.1:1'
  assert.equal(
    await ratesAt(closed),
    `no agent answers at ${closed}; start one without this destination, then check again`,
  )
})
