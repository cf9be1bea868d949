import assert from 'node:assert/strict'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ANSWER_LIMIT_BYTES, answerAt } from './agent-answer.ts'

/** Longer than any test: only the limit of bytes ends an answer. */
const NO_LIMIT_MS = 2 ** 31 - 1

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an endless answer is refused at the limit of bytes, and its connection closed', async (t) => {
  const closed = Promise.withResolvers<void>()
  const address = await serve(t, (_request, response) => {
    response.once('close', closed.resolve)
    writeForever(response)
  })
  await assert.rejects(answerAt(address, NO_LIMIT_MS), {
    message: `an answer of more than ${ANSWER_LIMIT_BYTES} bytes`,
  })
  await closed.promise
})

test('an answer that does not come is refused at the limit of time', async (t) => {
  const address = await serve(t, (_request, response) => response.writeHead(200).write('{'))
  await assert.rejects(answerAt(address, 50), { name: 'TimeoutError' })
})

function writeForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(1 << 20, ' ')
  const more = () => {
    while (!response.destroyed && response.write(chunk)) {
      // Until the reader is slower, or closes the connection.
    }
  }
  response.on('drain', more)
  more()
}
