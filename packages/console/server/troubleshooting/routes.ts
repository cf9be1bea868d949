import { SondeError } from '@sonde/sdk'
import type { ApiAnswers, ExporterInstall, SondeProgram, TroubleshootingAnswer } from '@sonde/sdk/api'
import type { FastifyInstance } from 'fastify'
import type { TroubleshootingOrigin } from './facts.ts'
import { driverHop, exporterHop, labelHop, pluginHop, scrapeHop } from './gpu-hops.ts'
import { paramHop, webhookHop } from './own-hops.ts'

const EXPORTERS: readonly ExporterInstall[] = ['helm', 'operator', 'none']
const PROGRAMS: readonly SondeProgram[] = ['agent', 'console', 'ps']

/** The route of the page Troubleshooting. */
export function troubleshootingRoutes(app: FastifyInstance, origin: TroubleshootingOrigin): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/api/v1/troubleshooting', async ({ query }, reply) => {
    const exporter = chosen('exporter', query.exporter, EXPORTERS, 'helm')
    const program = chosen('program', query.program, PROGRAMS, origin.place === 'agent' ? 'agent' : 'console')
    const answer = await troubleshoot(origin, exporter, program)
    return reply.header('cache-control', 'no-store').send(answer satisfies ApiAnswers['/api/v1/troubleshooting'])
  })
}

/** Looks at each hop, for a reader. */
async function troubleshoot(
  origin: TroubleshootingOrigin,
  exporter: ExporterInstall,
  program: SondeProgram,
): Promise<TroubleshootingAnswer> {
  const reader = { exporter, program, backend: origin.backend ?? '' }
  const [pods, readers] = await Promise.all([origin.pods(), origin.readers()])
  const facts = { origin, reader, pods, readers }
  const isRead = pods.state === 'ready' || readers?.some(({ state }) => state === 'reading') === true
  const hops = await Promise.all([
    driverHop(facts),
    pluginHop(facts),
    exporterHop(facts),
    scrapeHop(facts),
    labelHop(facts),
    paramHop(origin.params, isRead),
    webhookHop(origin.webhooks, reader),
  ])
  return { nowMs: pods.nowMs, exporter, program, hops }
}

function chosen<T extends string>(name: string, given: unknown, allowed: readonly T[], fallback: T): T {
  if (given === undefined || given === '') return fallback
  const found = allowed.find((one) => one === given)
  if (found !== undefined) return found
  throw new SondeError('QRY_FORM', `${name} is no known value; allowed: ${allowed.join(', ')}`)
}
