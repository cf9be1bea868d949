import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf, SondeError } from '../../errors.ts'
import { askedSet } from '../../fieldset/asked-set.ts'
import type { FieldSet } from '../../fieldset/fieldset.ts'
import type { Prometheus } from './prometheus.ts'

/**
 * Answers GET and HEAD of `node:http` with the view; needs no framework. `?set=core` asks for fields of class `core`
 * only. Another method is answered with 405, another set with 400.
 */
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
      if (isWrongSet(error)) {
        response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' }).end(`${messageOf(error)}\n`)
        return
      }
      view.stats.errors++
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(`${messageOf(error)}\n`)
    }
  }
}

/** Whether a request asked for a set that does not exist. */
function isWrongSet(error: unknown): boolean {
  return error instanceof SondeError && error.code === 'SET_CLASS'
}

/**
 * Answers a GET or HEAD with the exposition of the view, or with the part that passes the filter and the set of the
 * request.
 *
 * @throws SondeError `SET_CLASS` if the request asks for another set than `core` or `full`.
 */
export async function answerScrape(
  view: Prometheus,
  request: IncomingMessage,
  response: ServerResponse,
  filter?: FieldSet,
): Promise<void> {
  const { accept, 'accept-encoding': acceptEncoding } = request.headers
  const scrape = await view.render({ accept, acceptEncoding }, askedSet(request.url ?? '', filter))
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
