import { type Agent, walkerOf } from '@sonde/agent'
import {
  appRoutes,
  podsAnswer,
  scraperRoutes,
  troubleshootingRoutes,
  type Webhooks,
  webhookRoutes,
} from '@sonde/console'
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
  const origin = appOrigin(agent, params)
  const scrapers = () => scraperSwitch.list()
  appRoutes(app, { ...origin, limits: appLimits(loaded, params) })
  webhookRoutes(app, webhooks)
  scraperRoutes(app, { params, audit: access.audit, scrapers, reset: () => scraperSwitch.reset() })
  troubleshootingRoutes(app, {
    ...{ params, webhooks },
    gpus: {
      ...{ place: 'agent', scrapers, readers: origin.readers, explain: walkerOf(agent) },
      pods: () => podsAnswer(origin),
    },
  })
  notifyOfParams(management, webhooks)
}
