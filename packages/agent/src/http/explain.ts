import { SondeError } from '@sonde/sdk'
import type { ExplainWalk } from '@sonde/sdk/api'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { AgentFacts } from '../explain/agent-facts.ts'
import { explain } from '../explain/explain.ts'
import { tracebackState } from '../explain/traceback-state.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { KernelContext } from '../sources/chains/chain-context.ts'
import { SOURCES } from '../sources/registry.ts'
import { answerRoute } from './answer-route.ts'
import { listedDevices } from './devices.ts'
import { parameter } from './query.ts'
import { describeSource } from './source.ts'

/** Walks at a time: each may wait for a driver. */
const WALKS_LIMIT = 4

/**
 * `GET /api/v1/explain?of=`: all steps from file to value. A hanging step is abandoned after two seconds, and never
 * blocks the main loop.
 */
export function explainRoute(app: FastifyInstance, agent: Agent): void {
  const walk = walkerOf(agent)
  let walks = 0
  answerRoute(app, '/api/v1/explain', async (request) => {
    const { of } = parameter(request, 'of')
    if (of === undefined)
      throw new SondeError(
        'QRY_FORM',
        'of is missing; it is a source, a device, a metric, a pod, traceback, or one of its rules',
      )
    if (walks >= WALKS_LIMIT) {
      agent.http.refuse('parallel_walks')
      throw new SondeError('EXP_BUSY', `${WALKS_LIMIT} walks are under way; ask again in a moment`)
    }
    walks++
    try {
      const [first, ...others] = await walk(of)
      if (first === undefined) throw new Error(`nothing was walked for ${of}`)
      return { ...first, others }
    } finally {
      walks--
    }
  })
}

/** What walks the chains of an agent; see `explain`. */
export function walkerOf(agent: Agent): (of: string) => Promise<readonly ExplainWalk[]> {
  const { paths, traceback } = agent.options.config
  const { dataSources } = agent
  const context = new KernelContext(paths)
  const kinds = dataSources.map(({ definition }) => definition)
  const definitions = [...new Set([...SOURCES, ...kinds])]
  const facts = factsOf(agent)
  const options = { context, definitions, configured: dataSources, facts, traceback, agentPlace: 'this agent' }
  return (of) => explain(of, options)
}

function factsOf(agent: Agent): AgentFacts {
  const { sources, recent } = agent
  const declared = () => [...new Set(agent.dataSources.flatMap(({ definition }) => definition.types))]
  return {
    traceback: (rule) => tracebackState(agent, rule),
    async source(name) {
      const running = sources.find((each) => each.name === name)
      if (running === undefined) return undefined
      const { targets, found, stats } = running
      return { ...describeSource(running), targets, found, failures: stats.failed.latest() }
    },
    series: async (wanted) => latestSeries(recent, wanted, declared()),
    types: async () => recent.types(),
    devices: async () => listedDevices(agent),
    attributions: async () => new Map([...agent.pods.details()].map(([pod, { attribution }]) => [pod, attribution])),
  }
}
