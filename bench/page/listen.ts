import { type Agent, agentRoutes, createAgent, createServer } from '@sonde/agent'
import { type createStore, pageRoutes } from '@sonde/console'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { openLog } from '../../packages/cli/src/log.ts'

/** Makes what `sonde up` is made of, over a store that is filled already. */
export function makeAgent(store: Awaited<ReturnType<typeof createStore>>): Agent {
  return createAgent({
    config: loadConfig({ environment: { SONDE_CONFIG: '', SONDE_SERVICE_ENABLED: 'false' } }).config.agent,
    log: openLog('error'),
    version: 'bench',
    sinks: [store],
    history: store,
    storeStatus: () => store.status(),
    kept: { command: 'sonde read', types: store.types.bind(store), records: store.records.bind(store) },
  })
}

/** The server of an agent. */
export type App = ReturnType<typeof createServer>

/**
 * Listens on a free port, says where, and calls `end` before all is closed at SIGTERM. `prepare` sees the server before
 * any route is there.
 */
export async function listen(agent: Agent, end: () => void, prepare?: (app: App) => void): Promise<void> {
  const app = createServer(agent)
  prepare?.(app)
  agentRoutes(app, agent)
  await pageRoutes(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  agent.start()
  const address = app.server.address()
  console.log(`ready on http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`)
  process.once('SIGTERM', async () => {
    end()
    await app.close()
    await agent.close()
  })
}
