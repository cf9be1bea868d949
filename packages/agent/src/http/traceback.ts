import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { tracebackState } from '../explain/traceback-state.ts'
import { answerRoute } from './answer-route.ts'
import { parameter } from './query.ts'

/** `GET /api/v1/traceback?rule=`: how traceback fares, and one of its rules. */
export function tracebackRoute(app: FastifyInstance, agent: Agent): void {
  answerRoute(app, '/api/v1/traceback', (request) => tracebackState(agent, parameter(request, 'rule').rule))
}
