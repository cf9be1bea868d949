import { SondeError } from '@sonde/sdk'
import type { ApiAnswers, ExporterInstall, SondeProgram, TroubleshootingHop } from '@sonde/sdk/api'
import type { FastifyInstance } from 'fastify'
import type { Reader } from './commands.ts'
import type { TroubleshootingOrigin } from './facts.ts'
import { gpuHops, unseenGpuHops } from './gpu-hops.ts'
import { agentsHop, hopsOverNodes } from './node-hops.ts'
import { paramHop, webhookHop } from './own-hops.ts'

const EXPORTERS: readonly ExporterInstall[] = ['helm', 'operator', 'none']
const PROGRAMS: readonly SondeProgram[] = ['agent', 'console', 'ps']

/** The route of the page Troubleshooting. */
export function troubleshootingRoutes(app: FastifyInstance, origin: TroubleshootingOrigin): void {
  // A console without a Prometheus shows its agents.
  const usual = origin.gpus?.place === 'prometheus' ? 'console' : 'agent'
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/api/v1/troubleshooting', async ({ query }, reply) => {
    const exporter = chosen('exporter', query.exporter, EXPORTERS, 'helm')
    const program = chosen('program', query.program, PROGRAMS, usual)
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const reader = { exporter, program, backend: origin.gpus?.backend ?? '' }
    const hops = await troubleshoot(origin, reader, gone.signal)
    const answer = { nowMs: Date.now(), exporter, program, hops }
    return reply.header('cache-control', 'no-store').send(answer satisfies ApiAnswers['/api/v1/troubleshooting'])
  })
}

/** Looks at each hop, for a reader. */
async function troubleshoot(
  { gpus, agents, params, webhooks }: TroubleshootingOrigin,
  reader: Reader,
  signal: AbortSignal,
): Promise<readonly TroubleshootingHop[]> {
  if (gpus === undefined) {
    const own = [...unseenGpuHops(reader), paramHop(params, true), webhookHop(webhooks, reader)]
    return agents === undefined ? own : [agentsHop(agents), ...(await hopsOverNodes(own, agents.links, reader, signal))]
  }
  const [pods, readers] = await Promise.all([gpus.pods(), gpus.readers()])
  const isRead = pods.state === 'ready' || readers?.some(({ state }) => state === 'reading') === true
  const own = await gpuHops({ origin: gpus, reader, pods, readers })
  // Over a Prometheus its series decide: agents need not read the exporters that it scrapes.
  const first = agents === undefined ? [] : [agentsHop(agents)]
  return [...first, ...own, paramHop(params, isRead), webhookHop(webhooks, reader)]
}

function chosen<T extends string>(name: string, given: unknown, allowed: readonly T[], fallback: T): T {
  if (given === undefined || given === '') return fallback
  const found = allowed.find((one) => one === given)
  if (found !== undefined) return found
  throw new SondeError('QRY_FORM', `${name} is no known value; allowed: ${allowed.join(', ')}`)
}
