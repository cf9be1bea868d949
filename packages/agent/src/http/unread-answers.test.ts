import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { HttpStats } from '../pipeline/http-stats.ts'
import { UnreadAnswers } from './unread-answers.ts'

const MIB = 1 << 20

/** Answers that never end by themselves, each to a connection of its own. */
async function answers(t: TestContext) {
  const http = new HttpStats()
  const unread = new UnreadAnswers(http)
  const asked: ServerResponse[] = []
  const server = createServer((_request, out) => asked.push(out))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const open = async (requests = 1): Promise<ServerResponse[]> => {
    const { port } = server.address() as { port: number }
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    sockets.push(socket)
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(requests))
    await until('the requests', () => asked.length === requests)
    return asked.splice(0)
  }
  return { unread, open, cut: () => http.refused.get('answer_stalled'), leave: () => sockets.at(-1)?.destroy() }
}

function isCut(out: ServerResponse): boolean {
  return out.req.socket.destroyed
}

test('where answers hold too much that one is cut that held most for longest; who reads keeps its own', async (t) => {
  const { unread, open, cut } = await answers(t)
  const outs = [...(await open()), ...(await open()), ...(await open()), ...(await open())]
  const [small, slow, reading, last] = outs as [ServerResponse, ServerResponse, ServerResponse, ServerResponse]
  let nowMs = performance.now()
  t.mock.method(performance, 'now', () => nowMs)
  unread.hold(MIB, small)
  nowMs += 1000
  unread.hold(80 * MIB, slow)
  const held = unread.hold(80 * MIB, reading)
  nowMs += 1000
  held.taken()
  nowMs += 1
  unread.hold(MIB, last)
  assert.deepEqual([...outs.map(isCut), cut()], [false, true, false, false, 1])
})

test('an answer of which a part is taken again and again is cut after two minutes', async (t) => {
  const { unread, open, cut } = await answers(t)
  const [slow, whole] = [...(await open()), ...(await open())] as [ServerResponse, ServerResponse]
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const held = unread.hold(MIB, slow)
  unread.hold(MIB, whole).release()
  for (let s = 0; s < 119; s++) {
    t.mock.timers.tick(1000)
    held.taken()
  }
  assert.equal(isCut(slow), false)
  t.mock.timers.tick(1000)
  assert.deepEqual([isCut(slow), isCut(whole), cut()], [true, false, 1])
})

test('an answer whose client leaves is no longer held, also behind another one of its connection', async (t) => {
  const { unread, open, cut, leave } = await answers(t)
  const behind = await open(2)
  const ended = Promise.all(behind.map((out) => once(out, 'close')))
  for (const out of behind) unread.hold(100 * MIB, out)
  leave()
  await ended
  const [next, after] = [...(await open()), ...(await open())] as [ServerResponse, ServerResponse]
  // An answer that ends before it is held does not count either.
  unread.hold(200 * MIB, behind[0] as ServerResponse)
  unread.hold(MIB, next)
  unread.hold(MIB, after)
  assert.deepEqual([isCut(next), cut()], [false, 0])
  await until('the connection is gone', () => behind.every(isCut))
})
