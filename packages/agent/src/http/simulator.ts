import { SondeError } from '@sonde/sdk'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { RunningScenario, ScenarioBook } from '../sources/simulator/scenarios/book.ts'
import { deviceId, targetsOf } from '../sources/simulator/scenarios/devices.ts'
import { parseRequest } from '../sources/simulator/scenarios/request.ts'
import { SCENARIOS } from '../sources/simulator/scenarios/scenarios.ts'
import { SimulatorSource } from '../sources/simulator/simulator.ts'
import { msOfSeconds, secondsOfMs } from '../sources/simulator/time.ts'
import { compress } from './compress.ts'

const OFF = { enabled: false, nodeClass: '', seed: 0, intervalMs: 0, scenarios: [], running: [] } as const

/** Routes of `/api/v1/simulator`: what the simulated node can go through, and what it goes through now. */
export function simulatorRoutes(app: FastifyInstance, agent: Agent): void {
  const runner = agent.runners.find(({ source }) => source instanceof SimulatorSource)
  const simulator = runner?.source instanceof SimulatorSource ? runner.source : undefined
  const book = (): ScenarioBook => {
    if (simulator !== undefined) return simulator.book
    throw new SondeError('SIM_OFF', 'no simulator runs here; start sonde with --simulate')
  }
  app.get('/api/v1/simulator', { onSend: compress }, (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (simulator === undefined || runner === undefined) return reply.send(OFF)
    return reply.send({ enabled: true, intervalMs: runner.intervalMs, ...describeSimulator(simulator) })
  })
  app.post('/api/v1/simulator/scenarios', (request, reply) => {
    const nowMs = Date.now()
    try {
      const started = book().start(parseRequest(request.body), secondsOfMs(nowMs))
      return reply.code(201).send(describeRunning(started, nowMs))
    } catch (error) {
      if (error instanceof SondeError && error.code === 'SIM_LIMIT') agent.http.refuse('scenarios')
      throw error
    }
  })
  app.delete<{ Params: { id: string } }>('/api/v1/simulator/scenarios/:id', (request, reply) => {
    book().stop(request.params.id, secondsOfMs(Date.now()))
    return reply.code(204).send()
  })
}

function describeSimulator({ simulation, book }: SimulatorSource) {
  const { node, seed } = simulation
  const nowMs = Date.now()
  return {
    nodeClass: node.name,
    seed,
    scenarios: SCENARIOS.map((scenario) => {
      const { name, summary, target, severity, durationS } = scenario
      const targets = targetsOf(node, scenario).map((device) => deviceId(node, device))
      return { name, summary, target, targets, severity, durationS }
    }),
    running: book.running(secondsOfMs(nowMs)).map((entry) => describeRunning(entry, nowMs)),
  }
}

function describeRunning({ id, name, device, onsetS, endS, severity }: RunningScenario, nowMs: number) {
  const onsetMs = Math.round(msOfSeconds(onsetS))
  const state = onsetMs > nowMs ? 'waiting' : 'running'
  return { id, name, device, onsetMs, endMs: Math.round(msOfSeconds(endS)), severity, state }
}
