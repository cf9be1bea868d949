import { createAgent } from '@sonde/agent'
import { appRoutes, PrometheusHistory, pageRoutes } from '@sonde/console'
import type { Loaded } from '../config/load.ts'
import { openLog } from '../log.ts'
import { VERSION } from '../version.ts'
import { appLimits } from './gpu-readers.ts'
import { tryListeners } from './listeners.ts'
import { type Running, serve } from './run.ts'

/** Where it listens unless the configuration says: beside `sonde agent` on one machine. */
const PORT = 9395

/** `sonde console`: the page and its routes over a Prometheus-compatible server. It reads nothing of this node. */
export async function runConsole(loaded: Loaded, address: string): Promise<Running> {
  const history = new PrometheusHistory({ url: address })
  const quiet = withoutSources(loaded)
  const { agent: config, log: logConfig } = quiet.config
  await tryListeners(config.export.prometheus)
  const agent = createAgent({
    config,
    log: openLog(logConfig.level),
    version: VERSION,
    originOf: loaded.originOf,
    history,
  })
  const running = await serve(agent, quiet, async (app) => {
    appRoutes(app, { history, limits: appLimits(quiet) })
    await pageRoutes(app)
  })
  console.log(`Sonde is ready on ${running.places} · history of ${history.transport.address}`)
  return running
}

/** The configuration of a server that has no sources, takes no records and watches no rules. */
function withoutSources(loaded: Loaded): Loaded {
  const { agent } = loaded.config
  const { traceback: _, ...rest } = agent
  const isDefault = loaded.originOf('export.prometheus.port') === 'default'
  const prometheus = { ...agent.export.prometheus, ...(isDefault ? { port: PORT } : {}) }
  const service = { ...agent.service, enabled: false }
  const config = { ...rest, dataSources: [], service, export: { ...agent.export, prometheus } }
  return { ...loaded, config: { ...loaded.config, agent: config } }
}
