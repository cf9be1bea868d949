import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { SondeError } from '../errors.ts'
import { createApiClient } from './api-client.ts'

type Connection = (response: ServerResponse) => void

/** A server whose connections behave as listed, the last for ever. */
async function serve(t: TestContext, connections: readonly Connection[]) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    connections[Math.min(asked.length, connections.length) - 1]?.(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, client: createApiClient({ baseUrl, backoffInitialMs: 1 }) }
}

const open = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })
const points = (toMs: number) => `event: points\nid: ${toMs}\ndata: {"toMs":${toMs}}\n\n`
const fault = (code: string) => `event: fault\ndata: {"code":"${code}","message":"it ends"}\n\n`
const WANTED = { queries: [{ metric: 'a', function: 'avg' as const }], stepMs: 500 }

test('a lost stream is opened again after its last event, however it was lost', async (t) => {
  const { client, asked } = await serve(t, [
    (response) => open(response).end(points(1000) + points(1500)),
    (response) => open(response).write(points(2000), () => response.destroy()),
    (response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{}'),
    (response) => open(response).end(`${points(2500)}${fault('STR_LIMIT')}`),
    (response) => open(response).write(points(3000)),
  ])
  const seen: unknown[] = []
  for await (const { event, data } of client.stream(WANTED)) {
    seen.push(event, data)
    if (seen.length === 10) break
  }
  const message = (toMs: number) => ['points', { toMs }]
  assert.deepEqual(seen, [1000, 1500, 2000, 2500, 3000].flatMap(message))
  const resumed = asked.map(({ url = '' }) => new URL(url, 'http://a').searchParams.get('lastEventId'))
  assert.deepEqual(resumed, [null, '1500', '2000', '2000', '2500'])
  assert.equal(
    new URL(asked[0]?.url ?? '', 'http://a').searchParams.get('q'),
    JSON.stringify({ stepMs: 500, queries: WANTED.queries }),
  )
})

test('a fault of the request ends it, and so does a server that never sends an event', async (t) => {
  const refused = await serve(t, [(response) => open(response).end(fault('QRY_FORM'))])
  await assert.rejects(refused.client.stream(WANTED).next(), { code: 'QRY_FORM', message: 'it ends' })
  assert.equal(refused.asked.length, 1)
  const empty = await serve(t, [(response) => open(response).end()])
  await assert.rejects(empty.client.stream(WANTED).next(), { code: 'CLT_STREAM' })
  assert.equal(empty.asked.length, 4)
  const page = await serve(t, [(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')])
  await assert.rejects(page.client.incidentStream().next(), ({ code }: SondeError) => code === 'CLT_ANSWER')
})

test('the connection is closed when nobody reads on, and when the signal is aborted', async (t) => {
  const closed: Promise<void>[] = []
  const { client } = await serve(t, [
    (response) => {
      closed.push(new Promise((resolve) => response.once('close', resolve)))
      open(response).write(points(1000))
    },
  ])
  for await (const _ of client.stream(WANTED)) break
  await closed[0]
  const control = new AbortController()
  const reason = new Error('enough')
  const read = async () => {
    for await (const _ of client.stream(WANTED, { signal: control.signal })) control.abort(reason)
  }
  await assert.rejects(read(), reason)
  await closed[1]
})
