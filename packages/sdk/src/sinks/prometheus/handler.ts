import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '../../errors.ts'
import type { FieldSet } from '../../fieldset/fieldset.ts'
import type { Prometheus } from './prometheus.ts'

/** Answers GET and HEAD of `node:http` with the view; needs no framework. What is not a scrape is answered with 405. */
export function metricsHandler(
  view: Prometheus,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
      return
    }
    try {
      await answerScrape(view, request, response)
    } catch (error) {
      view.stats.errors++
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(`${messageOf(error)}\n`)
    }
  }
}

/** Answers a GET or HEAD with the exposition of the view, or with the part that passes a filter. */
export async function answerScrape(
  view: Prometheus,
  request: IncomingMessage,
  response: ServerResponse,
  filter?: FieldSet,
): Promise<void> {
  const { accept, 'accept-encoding': acceptEncoding } = request.headers
  const scrape = await view.render({ accept, acceptEncoding }, filter)
  if (response.closed) scrape.release()
  else response.once('close', scrape.release)
  response.writeHead(200, {
    'content-type': scrape.contentType,
    'content-length': scrape.bytes,
    vary: 'Accept, Accept-Encoding',
    ...(scrape.contentEncoding === undefined ? {} : { 'content-encoding': scrape.contentEncoding }),
  })
  response.cork()
  if (request.method === 'GET') for (const chunk of scrape.chunks) response.write(chunk)
  response.end()
}
