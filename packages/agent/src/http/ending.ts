import type { ServerResponse } from 'node:http'
import { within } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'

/**
 * Lets answers that are under way when the server closes be read to their end, such as a scrape; whoever has not read
 * its answer after `limitMs` is cut off. Meanwhile new requests get 503. The server's own way to close would also cut
 * an answer that is written, and not yet read.
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
