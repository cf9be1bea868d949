import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { refuseStranger } from './admission.ts'
import { annotationsRoute } from './annotations.ts'
import { apiRoutes } from './api.ts'
import { devicesRoute } from './devices.ts'
import { endAnswersWithin } from './ending.ts'
import { eventRoutes } from './event.ts'
import { explainRoute } from './explain.ts'
import { healthRoutes } from './health.ts'
import { hintsRoute } from './hints.ts'
import { type Authorize, createHttpServer, type ServerCertificates } from './http-server.ts'
import { incidentRoutes, type People } from './incidents.ts'
import { incidentsStreamRoute } from './incidents-stream.ts'
import { bareNameOf, metricsRoute } from './metrics.ts'
import { openApiRoute } from './openapi.ts'
import { QueryPlaces } from './query-places.ts'
import { simulatorRoutes } from './simulator.ts'
import { isStream, streamRoute } from './stream.ts'
import { tracebackRoute } from './traceback.ts'
import { UnreadAnswers } from './unread-answers.ts'
import { versionsRoute } from './versions.ts'

/** Time for current answers when the server closes. */
const CLOSE_LIMIT_MS = 1000

/**
 * Answers about incidents that are made at a time. Each reads the store many times, and the store answers one question
 * after the other: more of them would only make everybody wait longer.
 */
const INCIDENT_PLACES = 4

const NOBODY: People = { whoAsks: () => '', audit: async () => undefined }

/** The server of an agent: the common server with the admission rules of an agent. */
export function createServer(agent: Agent, authorize?: Authorize, tls?: ServerCertificates): FastifyInstance {
  const { options, http, fieldSets } = agent
  return createHttpServer({
    http,
    log: options.log,
    connectionCount: options.config.limits.connections,
    isEndless: isStream,
    admit: (request) => refuseStranger(agent, request),
    ...{ authorize, tls },
    moreOf: async (request) =>
      bareNameOf(agent, request) === undefined ? '' : `; of field sets ${await fieldSets.listed()}`,
  })
}

/**
 * All routes of an agent.
 * @param people Who sends requests. Default: nobody is known, and no log of changes is kept.
 */
export function agentRoutes(app: FastifyInstance, agent: Agent, people: People = NOBODY): void {
  const { history, http, options } = agent
  const unread = new UnreadAnswers(http)
  const places = new QueryPlaces(http, options.config.limits.parallel_queries)
  const queried = { history, http, places, unread }
  const ofIncidents = { ...queried, places: new QueryPlaces(http, INCIDENT_PLACES, 'ask again') }
  metricsRoute(app, agent)
  healthRoutes(app, agent)
  apiRoutes(app, agent, queried)
  openApiRoute(app)
  devicesRoute(app, agent)
  versionsRoute(app, agent)
  hintsRoute(app, agent)
  incidentRoutes(app, agent, ofIncidents, people)
  annotationsRoute(app, agent, ofIncidents)
  eventRoutes(app, agent, queried)
  explainRoute(app, agent)
  tracebackRoute(app, agent)
  simulatorRoutes(app, agent)
  incidentsStreamRoute(app, agent, streamRoute(app, agent, queried))
  // After the live streams, which end at once.
  endAnswersWithin(app, CLOSE_LIMIT_MS)
}
