// What the entries of agents of one source have in common; they parse no configuration of a user.
import { parseArgs } from 'node:util'
import { type AgentOptions, createAgent } from '@sonde/agent'
import { checkDataSources } from '@sonde/agent/config'
import { appRoutes, pageRoutes, type Store, scraperRoutes } from '@sonde/console'
import { appLimits, appOrigin } from '../packages/cli/src/commands/gpu-readers.ts'
import { openManagement } from '../packages/cli/src/commands/management.ts'
import { readyLine, serveAgent } from '../packages/cli/src/commands/run.ts'
import { untilSignal } from '../packages/cli/src/commands/until-signal.ts'
import { loadConfig } from '../packages/cli/src/config/load.ts'
import { openLog } from '../packages/cli/src/log.ts'

type Config = AgentOptions['config']

/** The options in which agents of tests differ. */
export interface ServedSource {
  readonly source: Config['dataSources'][number]
  readonly limits?: Partial<Config['limits']>
  readonly paths?: Partial<Config['paths']>
  readonly sourcesModule?: string
  /** Whether the page is served too. Default: it is not. */
  readonly hasPage?: boolean
  /** Where history is kept. Default: in memory. */
  readonly store?: Store
}

/** Words of the command line that are no flag. `--listen` is read by the configuration. */
export function positionalsOf(): string[] {
  return parseArgs({ allowPositionals: true, options: { listen: { type: 'string' } } }).positionals
}

/**
 * Runs an agent of the source, beside one that reads the load of the host at the same period, until it is ended by a
 * signal.
 */
export async function serveSource({ source, limits, paths, hasPage, store, ...options }: ServedSource): Promise<never> {
  const loaded = loadConfig({ flags: [{ path: ['export', 'prometheus', 'port'], value: 0, origin: 'test' }] })
  const { agent: config } = loaded.config
  const others = checkDataSources([{ type: 'host', parts: ['load'], interval_ms: source.intervalMs }])
  if (!others.ok) throw new Error(others.issues[0]?.fault)
  const agent = createAgent({
    ...options,
    ...(store !== undefined && { sinks: [store], history: store }),
    config: {
      ...config,
      limits: { ...config.limits, ...limits },
      paths: { ...config.paths, ...paths },
      dataSources: [source, ...others.value],
    },
    log: openLog('debug'),
    version: 'test',
  })
  const start = async () => {
    const management = await openManagement(loaded, config.export.prometheus.host, openLog('debug'))
    const running = await serveAgent(agent, loaded, management, async (app) => {
      if (!hasPage) return
      appRoutes(app, { ...appOrigin(agent, management.params), limits: appLimits(loaded, management.params) })
      // The page of an app asks for it; nothing here scrapes.
      const { params, access } = management
      scraperRoutes(app, { params, audit: access.audit, scrapers: () => [], reset: async () => undefined })
      await pageRoutes(app)
    })
    console.log(await readyLine(agent, running.addresses, { usual: new Set(), extra: '' }, 0))
    return running
  }
  process.exit(await untilSignal(start()))
}
