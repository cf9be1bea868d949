import type { Agent } from '@sonde/agent'
import { appRoutes, scraperRoutes, type Webhooks, webhookRoutes } from '@sonde/console'
import type { FastifyInstance } from 'fastify'
import type { Loaded } from '../config/load.ts'
import { appLimits, appOrigin } from './gpu-readers.ts'
import { type Management, notifyOfParams } from './management.ts'

/** Parts of a server with an agent. */
export interface AgentParts {
  readonly agent: Agent
  readonly loaded: Loaded
  readonly management: Management
  readonly webhooks: Webhooks
}

/** The routes of the console beside those of an agent. */
export function consoleRoutes(app: FastifyInstance, { agent, loaded, management, webhooks }: AgentParts): void {
  const { params, access } = management
  const { scraperSwitch } = agent
  appRoutes(app, { ...appOrigin(agent, params), limits: appLimits(loaded, params) })
  webhookRoutes(app, webhooks)
  scraperRoutes(app, {
    ...{ params, audit: access.audit },
    scrapers: () => scraperSwitch.list(),
    reset: () => scraperSwitch.reset(),
  })
  notifyOfParams(management, webhooks)
}
