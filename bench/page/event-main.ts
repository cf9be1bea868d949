// A whole `sonde up` in one process, in front of which the routes of events answer with a generated event in the format
// of the API.
import { createStore } from '@sonde/console'
import { generatedEvent, generatedList, loadShapes, NODE } from '../../test/browser/generated-event.ts'
import { listen, makeAgent } from './listen.ts'

const [path = '', lanesText = '64', samplesText = '100000'] = process.argv.slice(2)
const [laneCount, sampleCount] = [Number(lanesText), Number(samplesText)]
/** Distance of two samples of every lane. Unit: milliseconds. */
const RESOLUTION_MS = 0.1
const BEFORE_SHARE = 1 / 4

const spanMs = sampleCount * RESOLUTION_MS
const nowMs = Date.now()
const made = generatedEvent(nowMs - spanMs, {}, loadShapes(laneCount), {
  before: spanMs * BEFORE_SHARE,
  after: spanMs * (1 - BEFORE_SHARE),
})
const list = generatedList(nowMs)

/** Answers a request for events; undefined for any other. */
function answerTo(address: URL): { readonly type: string; readonly body: string | Buffer } | undefined {
  const { pathname } = address
  const json = (value: object) => ({ type: 'application/json', body: JSON.stringify(value) })
  if (pathname === '/api/v1/incidents') return json(list)
  if (pathname === '/api/v1/incidents/stream')
    return { type: 'text/event-stream', body: `event: incidents\ndata: ${JSON.stringify(list)}\n\n` }
  const path = `/api/v1/incidents/${encodeURIComponent(`${NODE}:${made.event.id}`)}`
  if (pathname === path) return json({ ...list, incident: list.incidents[0], notes: [], window: made.event.window })
  if (pathname === `${path}/lanes`) return json(made.answer())
  if (pathname !== `${path}/samples`) return undefined
  return { type: 'application/vnd.sonde.samples', body: made.samples(address) }
}

// Values are made at the first question: what is measured is the page.
made.samples(
  new URL(
    `http://sonde/samples?lanes=${made
      .answer()
      .lanes.map(({ key }) => key)
      .join(',')}&from=${made.event.window?.fromMs}&to=${made.event.window?.toMs}&points=100`,
  ),
)
const store = await createStore({ path })
await listen(
  makeAgent(store),
  () => undefined,
  (app) => {
    app.addHook('onRequest', async (request, reply) => {
      const answer = answerTo(new URL(request.url, 'http://sonde'))
      if (!answer) return
      // The routes of the agent have hooks of their own, which would answer too.
      reply.hijack()
      reply.raw.writeHead(200, { 'content-type': answer.type, 'cache-control': 'no-store' }).end(answer.body)
      return reply
    })
  },
)
