import { SondeError } from '@sonde/sdk'
import { type Catalogue, turn } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import { answerRoute } from './answer-route.ts'
import { compress } from './compress.ts'
import { fresh, parameter } from './query.ts'

/** A longer list leaves types out, and says how many. Unit: characters of JSON. */
const LIST_LENGTH_LIMIT = 4 << 20

/** `/api/v1/types` and `/api/v1/series`: the types of records, and the current values of series. */
export function catalogueRoutes(app: FastifyInstance, catalogue: Catalogue): void {
  app.get('/api/v1/types', { onSend: compress }, async (_request, reply) =>
    fresh(reply)
      .type('application/json; charset=utf-8')
      .send(await listTypes(catalogue)),
  )
  answerRoute(app, '/api/v1/series', async (request) => {
    const wanted = { ...parameter(request, 'metric'), ...parameter(request, 'type') }
    if (Object.keys(wanted).length === 0)
      throw new SondeError('QRY_FORM', 'metric and type are missing; give one of them')
    return { nowMs: Date.now(), series: await catalogue.series(wanted) }
  })
}

async function listTypes(catalogue: Catalogue): Promise<string> {
  const { types, leftOut: notRead } = await catalogue.types()
  const listed: string[] = []
  let leftOut = notRead
  let length = 0
  for (const type of types) {
    const json = JSON.stringify(type)
    length += json.length
    if (length > LIST_LENGTH_LIMIT) leftOut++
    else listed.push(json)
    if (turn.isOver()) await turn.next()
  }
  return `{"types":[${listed.join()}],"leftOut":${leftOut}}`
}
