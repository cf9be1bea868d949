import { SondeError } from '@sonde/sdk'
import type { ListedSource, SourceSetting } from '@sonde/sdk/api'
import { leavesOf } from '@sonde/sdk/config'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { RunningSource } from '../hosting/running-source.ts'
import { type DataSourceConfig, dataSourceSchema } from '../sources/data-sources.ts'
import { answerRoute } from './answer-route.ts'

/** `GET /api/v1/sources/:name`: one source with its settings, its types and its failures. */
export function sourceRoute(app: FastifyInstance, agent: Agent): void {
  const { sources, options } = agent
  const { config, originOf = () => 'program' } = options
  answerRoute(app, '/api/v1/sources/:name', async ({ params: { name = '' } }) => {
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
    return {
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
  })
}

/** The state of a source. Members that are unknown before the first sample are null. */
export function describeSource(running: RunningSource): ListedSource {
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
function settingsOf(source: DataSourceConfig, originOf: (path: string) => string): readonly SourceSetting[] {
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
