import { SondeError } from '@sonde/sdk'
import { leavesOf } from '@sonde/sdk/config'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { RunningSource } from '../hosting/running-source.ts'
import { type DataSourceConfig, dataSourceSchema } from '../sources/data-sources.ts'
import { compress } from './compress.ts'

/** `GET /api/v1/sources/:name`: one source with what it was told to do, what it reports, and where it failed. */
export function sourceRoute(app: FastifyInstance, agent: Agent): void {
  const { sources, options } = agent
  const { config, originOf = () => 'program' } = options
  app.get<{ Params: { readonly name: string } }>(
    '/api/v1/sources/:name',
    { onSend: compress },
    async (request, reply) => {
      const { name } = request.params
      const running = sources.find((each) => each.name === name)
      const source = agent.dataSources.find((each) => each.name === name)
      if (running === undefined || source === undefined) {
        const known = sources.map((each) => each.name).join(', ')
        throw new SondeError(
          'AGT_UNKNOWN',
          `no source has the name ${JSON.stringify(name.slice(0, 100))}; there are: ${known}`,
        )
      }
      const { definition, found, stats } = running
      const answer = {
        ...describeSource(running),
        summary: definition.summary,
        found,
        versions: (await definition.versions?.(config.paths)) ?? [],
        sampleSeconds: stats.sampleSeconds,
        failures: stats.failed.latest(),
        targets: running.targets,
        settings: settingsOf(source, originOf),
        reports: definition.types.map(({ name, description, labels, layout }) => {
          return { name, description, labels: labels.map((label) => label.name), fieldCount: layout.slots.length }
        }),
      }
      return reply.header('cache-control', 'no-store').send(answer)
    },
  )
}

/** A source as it fares. What is not known before samples are there is null. */
export function describeSource(running: RunningSource) {
  const { name, definition, state, reason, stuck, targets, intervalMs, stats } = running
  const after = (samples: number, value: number): number | null => (stats.samples < samples ? null : value)
  return {
    name,
    type: definition.name,
    host: definition.host,
    state,
    reason,
    stuck,
    intervalMs,
    periods: stats.periods,
    intervalRealMs: after(2, stats.intervalRealMs),
    sampleMsP99: after(1, stats.sampleMsP99),
    samples: stats.samples,
    records: stats.records,
    errors: stats.errors,
    overruns: stats.overruns,
    restarts: stats.restarts,
    dropped: Object.fromEntries(stats.dropped),
    failingTargets: targets.filter(({ state }) => state === 'failed' || state === 'stopped').length,
    disputes: targets.reduce((sum, { disputeCount }) => sum + disputeCount, 0),
    lastSampleMs: after(1, stats.lastSampleMs),
    types: definition.types.map((type) => type.name),
  }
}

/** Every setting of a source, in the order of its documentation. */
function settingsOf(source: DataSourceConfig, originOf: (path: string) => string) {
  const { name, definition, intervalMs, options, place = '' } = source
  const values = { type: definition.name, name, enabled: true, interval_ms: intervalMs, ...options }
  return leavesOf(dataSourceSchema(definition), []).map(({ path, fallback, allowed, description }) => ({
    key: path.join('.'),
    value: path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], values) ?? null,
    fallback: fallback ?? null,
    allowed,
    description,
    origin: originOf([place, ...path].filter((key) => key !== '').join('.')),
  }))
}
