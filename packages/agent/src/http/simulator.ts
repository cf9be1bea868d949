import { SondeError } from '@sonde/sdk'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { answerRoute } from './answer-route.ts'

const OFF = { enabled: false, refusal: '', nodeClass: '', seed: 0, intervalMs: 0, scenarios: [], running: [] } as const

/** Routes of `/api/v1/simulator`: the available and the running scenarios of the simulated node. */
export function simulatorRoutes(app: FastifyInstance, agent: Agent): void {
  const { simulators } = agent
  answerRoute(app, '/api/v1/simulator', async () => {
    if (simulators.leader === undefined) return { ...OFF, refusal: agent.addedSimulator.refusal }
    const { intervalMs } = simulators.leader
    return { enabled: true, refusal: '', intervalMs, ...(await simulators.ask({ kind: 'describe' })) }
  })
  app.post('/api/v1/simulator', async (_request, reply) => {
    agent.addedSimulator.start()
    return reply.code(201).send({ enabled: true })
  })
  app.post('/api/v1/simulator/scenarios', async (request, reply) => {
    try {
      return await reply.code(201).send(await simulators.ask({ kind: 'start', request: request.body }))
    } catch (error) {
      if (error instanceof SondeError && error.code === 'SIM_LIMIT') agent.http.refuse('scenarios')
      throw error
    }
  })
  app.delete<{ Params: { id: string } }>('/api/v1/simulator/scenarios/:id', async (request, reply) => {
    await simulators.ask({ kind: 'stop', id: request.params.id })
    return reply.code(204).send()
  })
}
