import { Absences, type Batch, countDrop, messageOf } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import pino, { type Logger } from 'pino'
import type { AgentConfig, DataSourceConfig } from '../config.ts'
import { RemoteSource } from '../placement/remote-source.ts'
import { startProcess, startWorker } from '../placement/transport.ts'
import { SOURCES_MODULE } from '../places.ts'
import type { Probe } from '../sources/source.ts'
import { type RunnerOptions, SourceRunner } from './runner.ts'
import { SourceStats } from './source-stats.ts'

/** What every runner shares. */
export interface RunnerEnvironment {
  readonly config: Pick<AgentConfig, 'paths' | 'limits'>
  /** URL of the module whose `SOURCES` holds the definitions: what a child process imports. */
  readonly sourcesModule: string
  readonly accept: (batch: Batch) => void
  readonly log: Logger
}

/** Absent hardware is normal, and the ready line says what was found: only what needs a person is louder. */
const LEVEL_OF_STATE = {
  starting: 'debug',
  reading: 'debug',
  absent: 'debug',
  denied: 'warn',
  stuck: 'warn',
  failed: 'warn',
} as const

/** Makes the runner of one configured source, where its placement puts it. */
export function makeRunner(config: DataSourceConfig, environment: RunnerEnvironment): SourceRunner {
  const { name, definition, intervalMs } = config
  const stats = new SourceStats()
  return new SourceRunner({
    name,
    definition,
    intervalMs,
    stats,
    ...place(config, environment, stats),
    onState(state, reason, before) {
      const isBack = state === 'reading' && before !== 'starting'
      environment.log[isBack ? 'info' : LEVEL_OF_STATE[state]]({ source: name, state, reason }, 'source')
    },
  })
}

type Placed = Pick<RunnerOptions, 'source' | 'afterSample' | 'childPid'>

function place(config: DataSourceConfig, environment: RunnerEnvironment, stats: SourceStats): Placed {
  return (config.definition.placement === 'inline' ? inlineSource : remoteSource)(config, environment, stats)
}

/** On the main loop, reporting through an SDK source of its own. */
function inlineSource(
  { name, definition, intervalMs, options }: DataSourceConfig,
  { config, accept, log }: RunnerEnvironment,
  stats: SourceStats,
): Placed {
  const emit = (batch: Batch) => {
    stats.accepted(batch)
    accept(batch)
  }
  const dropped = (reason: string, records: number) => countDrop(stats, reason, records)
  const { labels = {} } = definition
  const source = createOwnSource({ id: name, intervalMs, labels, emit, onLoss: dropped })
  const absences = new Absences(source)
  const failed = (place: string, error: unknown) => {
    stats.failed.add(place, error, Date.now())
    log.debug({ source: name, place, error: messageOf(error) }, 'read failed')
  }
  const afterSample = () => {
    absences.repeat()
    source.flush()
  }
  const context = { name, source, absences, paths: config.paths, failed, dropped }
  return { source: definition.create(options, context), afterSample }
}

/** In a child process or a worker; it reports by message, and flushes there. */
function remoteSource(
  { name, definition, intervalMs, options }: DataSourceConfig,
  { config, sourcesModule, accept, log }: RunnerEnvironment,
  stats: SourceStats,
): Placed {
  const { paths, limits } = config
  const { name: type, types, module = sourcesModule } = definition
  const start = definition.placement === 'worker' ? startWorker : startProcess
  const source = new RemoteSource({
    hosted: { module, name, type, options, intervalMs, paths, floodBytes: limits.source_flood_bytes },
    types,
    look: definition.look?.bind(definition, options, paths),
    start: (events) => {
      const transport = start(events)
      log.debug({ source: name, child: transport.pid }, 'source started')
      return transport
    },
    accept,
    stats,
    callLimitMs: limits.source_call_ms,
    onNoise: (line) => log.warn({ source: name, line }, 'source wrote to standard error'),
  })
  return { source, afterSample: () => undefined, childPid: () => source.pid }
}

/** Opens, probes and closes every configured source without sampling: what `sonde check` tells. */
export async function probeSources(config: AgentConfig): Promise<{ name: string; probe: Probe }[]> {
  const log = pino({ level: 'silent' })
  const environment = { config, sourcesModule: SOURCES_MODULE, accept: () => undefined, log }
  return Promise.all(
    config.dataSources.map(async (dataSource) => {
      const { name } = dataSource
      const { source: probed } = place(dataSource, environment, new SourceStats())
      try {
        await probed.open()
        return { name, probe: await probed.probe() }
      } catch (error) {
        return { name, probe: { state: 'failed' as const, reason: messageOf(error) } }
      } finally {
        await probed.close()
      }
    }),
  )
}
