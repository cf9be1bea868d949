import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { OPENAPI_FILES } from '../places.ts'
import { compress } from './compress.ts'

/** `GET /api/v1/openapi.json`: the description of the HTTP API. It is read for each request, which is rare. */
export function openApiRoute(app: FastifyInstance): void {
  app.get('/api/v1/openapi.json', { onSend: compress }, async (_request, reply) => {
    const file = OPENAPI_FILES.find((place) => existsSync(place))
    if (file === undefined) throw new Error('openapi.json is not beside the program')
    return reply
      .header('cache-control', 'no-cache')
      .type('application/json; charset=utf-8')
      .send(await readFile(file, 'utf8'))
  })
}
