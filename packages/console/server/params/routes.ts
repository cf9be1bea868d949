import { SondeError } from '@sonde/sdk'
import type { ParamsAnswer, ParamVersion } from '@sonde/sdk/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as v from 'valibot'
import type { AuditLog } from '../access/audit-log.ts'
import { whoOf } from '../access/routes.ts'
import type { Params } from './params.ts'

const CHANGES_MAX = 64
const bodySchema = v.strictObject({
  values: v.pipe(
    v.record(v.pipe(v.string(), v.maxLength(100)), v.pipe(v.string(), v.maxLength(1024))),
    v.check((values) => Object.keys(values).length <= CHANGES_MAX),
  ),
  isForced: v.optional(v.boolean()),
})

/** Routes of parameters. */
export function paramRoutes(app: FastifyInstance, params: Params, audit: AuditLog): void {
  const answer = (): ParamsAnswer => {
    return { version: params.version, fault: params.fault, params: params.list(), history: params.history() }
  }
  const noted = async (request: FastifyRequest, action: string, version: ParamVersion) => {
    for (const { name, before, after } of version.changes)
      await audit.note({ timeMs: version.timeMs, action, ...whoOf(request), what: name, before, after })
    return answer()
  }
  app.get('/api/v1/params', async (_request, reply) => {
    await params.refresh()
    return reply.header('cache-control', 'no-store').send(answer())
  })
  app.post('/api/v1/params', async (request, reply) => {
    const body = v.safeParse(bodySchema, request.body)
    if (!body.success)
      throw new SondeError(
        'PRM_FORM',
        `the body is not {"values": {"NAME": "VALUE"}} with at most ${CHANGES_MAX} texts`,
      )
    const { values, isForced = false } = body.output
    const version = await params.set(values, { who: whoOf(request).who, isForced })
    return reply.send(await noted(request, 'params.set', version))
  })
  app.post('/api/v1/params/undo', async (request, reply) => {
    const version = await params.undo({ who: whoOf(request).who })
    return reply.send(await noted(request, 'params.undo', version))
  })
}
