import { createAgent } from '@sonde/agent'
import type { Loaded } from '../config/load.ts'
import { lifePath } from '../config/store-path.ts'
import { openLog } from '../log.ts'
import { REVISION, VERSION } from '../version.ts'
import { accessWords } from './access.ts'
import { consoleRoutes } from './console-routes.ts'
import { tryListeners } from './listeners.ts'
import { isScraping, openManagement } from './management.ts'
import { incidentSinks, openWebhooks } from './open-webhooks.ts'
import { type Running, readyLine, serveAgent, usualSources } from './run.ts'
import { tightenFolders } from './tighten-folders.ts'

/** `sonde agent`: sources, `/metrics` and the API of one node, without store and page. */
export async function runAgent(loaded: Loaded): Promise<Running> {
  const log = openLog(loaded.config.log.level)
  // An agent that cannot listen must not touch any file.
  await tryListeners(loaded.config.agent.export.prometheus)
  await tightenFolders(loaded, log)
  const webhooks = openWebhooks(loaded, log)
  const management = await openManagement(loaded, loaded.config.agent.export.prometheus.host, log)
  const agent = createAgent({
    ...{ config: loaded.config.agent, log, version: VERSION, revision: REVISION },
    ...{ originOf: loaded.originOf, sinks: incidentSinks(webhooks), isScraping: () => isScraping(management.params) },
    certificate: () => management.tls?.status(),
    lifeFile: lifePath(loaded.config.store),
  })
  const running = await serveAgent(agent, loaded, management, (app) => {
    consoleRoutes(app, { agent, loaded, management, webhooks })
  })
  const extra = await accessWords(management.access)
  console.log(await readyLine(agent, running.addresses, { usual: usualSources(loaded), extra }))
  return running
}
