import type { ServerResponse } from 'node:http'
import { within } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'

/**
 * Closes a server after its clients have read the current answers, such as a scrape. Connections that remain after
 * `limitMs` are closed. Meanwhile new requests get 503. The `close` of the server itself would also cut an answer that
 * is written but not yet read.
 */
export function endAnswersWithin(app: FastifyInstance, limitMs: number): void {
  const answers = new Set<ServerResponse>()
  app.server.on('request', (_request, answer: ServerResponse) => {
    answers.add(answer)
    answer.once('close', () => answers.delete(answer))
  })
  app.addHook('preClose', async () => {
    const ends = [...answers].map((answer) => new Promise((resolve) => answer.once('close', resolve)))
    await within(limitMs, Promise.all(ends))
  })
}
