import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { tracebackState } from '../explain/traceback-state.ts'
import { compress } from './compress.ts'
import { fresh, parameter } from './query.ts'

/** `GET /api/v1/traceback?rule=`: how traceback fares, and one of its rules. */
export function tracebackRoute(app: FastifyInstance, agent: Agent): void {
  app.get('/api/v1/traceback', { onSend: compress }, async (request, reply) => {
    const { rule } = parameter(request, 'rule')
    return fresh(reply).send(await tracebackState(agent, rule))
  })
}
