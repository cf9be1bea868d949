import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { answerRoute } from './answer-route.ts'

/** `GET /api/v1/hints`: the current hints of the node, and those of the last hour. */
export function hintsRoute(app: FastifyInstance, agent: Agent): void {
  answerRoute(app, '/api/v1/hints', () => agent.hints.answer())
}
