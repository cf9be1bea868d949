import { Absences, type Batch, createSource, messageOf } from '@sonde/sdk'
import type { Logger } from 'pino'
import type { AgentConfig, DataSourceConfig } from '../config.ts'
import type { Probe, SourceContext } from '../sources/source.ts'
import { SourceRunner } from './runner.ts'
import { SourceStats } from './source-stats.ts'

/** What every runner shares. */
export interface RunnerEnvironment {
  readonly paths: SourceContext['paths']
  readonly accept: (batch: Batch) => void
  readonly log: Logger
}

/** Makes the runner of one configured source, with the SDK source that it reports through. */
export function makeRunner(config: DataSourceConfig, { paths, accept, log }: RunnerEnvironment): SourceRunner {
  const { name, definition, intervalMs, options } = config
  const stats = new SourceStats()
  const source = createSource({
    id: name,
    intervalMs,
    emit: (batch) => {
      stats.records += batch.count
      accept(batch)
    },
  })
  const absences = new Absences(source)
  const context: SourceContext = {
    name,
    source,
    absences,
    paths,
    failed: (place, error) => {
      stats.errors++
      log.debug({ source: name, place, error: messageOf(error) }, 'read failed')
    },
  }
  return new SourceRunner({
    name,
    definition,
    intervalMs,
    stats,
    source: definition.create(options, context),
    afterSample: () => {
      absences.repeat()
      source.flush()
    },
    onState: (state, reason) => log.info({ source: name, state, reason }, 'source'),
  })
}

/** Opens, probes and closes every configured source without sampling: what `sonde check` tells. */
export async function probeSources(config: AgentConfig): Promise<{ name: string; probe: Probe }[]> {
  return Promise.all(
    config.dataSources.map(async ({ name, definition, intervalMs, options }) => {
      const source = createSource({ id: name, intervalMs, emit: () => undefined })
      const context = { name, source, absences: new Absences(source), paths: config.paths, failed: () => undefined }
      const probed = definition.create(options, context)
      try {
        await probed.open()
        return { name, probe: await probed.probe() }
      } catch (error) {
        return { name, probe: { state: 'denied' as const, reason: messageOf(error) } }
      } finally {
        await probed.close()
      }
    }),
  )
}
