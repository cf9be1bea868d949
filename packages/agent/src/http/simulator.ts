import { SondeError } from '@sonde/sdk'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { SimulatorAnswers, SimulatorCommand } from '../sources/simulator/commands.ts'
import { compress } from './compress.ts'

const OFF = { enabled: false, nodeClass: '', seed: 0, intervalMs: 0, scenarios: [], running: [] } as const

/** Routes of `/api/v1/simulator`: what the simulated node can go through, and what it goes through now. */
export function simulatorRoutes(app: FastifyInstance, agent: Agent): void {
  const simulator = agent.sources.find(({ definition }) => definition.name === 'simulator')
  const ask = async <C extends SimulatorCommand>(command: C): Promise<SimulatorAnswers[C['kind']]> => {
    if (simulator === undefined) throw new SondeError('SIM_OFF', 'no simulator runs here; start sonde with --simulate')
    return (await simulator.command(command)) as SimulatorAnswers[C['kind']]
  }
  app.get('/api/v1/simulator', { onSend: compress }, async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (simulator === undefined) return reply.send(OFF)
    return reply.send({ enabled: true, intervalMs: simulator.intervalMs, ...(await ask({ kind: 'describe' })) })
  })
  app.post('/api/v1/simulator/scenarios', async (request, reply) => {
    try {
      return await reply.code(201).send(await ask({ kind: 'start', request: request.body }))
    } catch (error) {
      if (error instanceof SondeError && error.code === 'SIM_LIMIT') agent.http.refuse('scenarios')
      throw error
    }
  })
  app.delete<{ Params: { id: string } }>('/api/v1/simulator/scenarios/:id', async (request, reply) => {
    await ask({ kind: 'stop', id: request.params.id })
    return reply.code(204).send()
  })
}
