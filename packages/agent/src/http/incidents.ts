import { SondeError } from '@sonde/sdk'
import type { IncidentRules, IncidentsAnswer, Labels, ListedType, MovedAnswer } from '@sonde/sdk/api'
import { type Asker, askerOf, JsonReader, type QueryRequest } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import type { IncidentFilter } from '../incidents/incident-filter.ts'
import { type IncidentNoteKind, NOTE_LENGTH_MAX } from '../incidents/incident-notes.ts'
import { movedSignals } from '../incidents/moved-signals.ts'
import type { RuleBook } from '../rules/rule.ts'
import { describeRule } from '../traceback/describe-rule.ts'
import { agentCatalogue } from './agent-catalogue.ts'
import { answerRoute } from './answer-route.ts'
import { incidentAnswer } from './incident-answer.ts'
import { parameter, type Queried } from './query.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000
const FIND_CHARS_MAX = 200
/** The last time that a JavaScript date holds. Unit: milliseconds since the Unix epoch. */
const TIME_MAX_MS = 8.64e15
const SEVERITIES = ['critical', 'warning', 'notice'] as const
const KINDS = ['hint', 'event'] as const
const STATES = ['open', 'ended'] as const
const read = new JsonReader((message) => new SondeError('INC_FORM', message))

/** The people behind requests. */
export interface People {
  /** Gives the name of who sends a request; empty if nobody needs to log in. */
  readonly whoAsks: (request: FastifyRequest) => string
  /** Notes a change in the log of changes. */
  readonly audit: (request: FastifyRequest, action: string, what: string) => Promise<void>
}

/** `GET /api/v1/incidents`, an incident, and the routes that write on it. */
export function incidentRoutes(app: FastifyInstance, agent: Agent, queried: Queried, people: People): void {
  const { incidentNotes: notes, incidentPins: pins } = agent
  const { whoAsks, audit } = people
  const answerOf = (request: FastifyRequest, id: string) =>
    queried.places.take(askerOf(request), () => incidentAnswer(agent, id))
  answerRoute(app, '/api/v1/incidents', (request) => {
    const wanted = filterOf(request)
    return queried.places.take(askerOf(request), () => incidentsAnswer(agent, wanted))
  })
  answerRoute(app, '/api/v1/incidents/:id', (request) => answerOf(request, request.params.id ?? ''))
  answerRoute(app, '/api/v1/incidents/:id/moved', (request) =>
    queried.places.take(askerOf(request), () => movedAnswer(agent, request.params.id ?? '', askerOf(request))),
  )
  const write = (path: string, kind: IncidentNoteKind) => {
    app.post<{ Params: { readonly id: string } }>(`/api/v1/incidents/:id/${path}`, async (request, reply) => {
      const text = kind === 'note' ? textOf(request.body) : ''
      const { incident } = await answerOf(request, request.params.id)
      await notes.opened()
      notes.add(incident.id, kind, whoAsks(request), text)
      return reply.code(201).send(await answerOf(request, incident.id))
    })
  }
  write('acknowledge', 'acknowledged')
  write('notes', 'note')
  answerRoute(app, '/api/v1/pins', async () => ({
    pins: (await pins.list()).map(({ pin, incident }) => ({ ...pin, incident })),
  }))
  const path = '/api/v1/incidents/:id/pin'
  app.post<{ Params: { readonly id: string } }>(path, async (request, reply) => {
    const answer = await answerOf(request, request.params.id)
    const { id } = answer.incident
    await pins.pin(answer, whoAsks(request))
    await audit(request, 'incident.pin', id)
    return reply.code(201).send(await answerOf(request, id))
  })
  app.delete<{ Params: { readonly id: string } }>(path, async (request, reply) => {
    const { id } = request.params
    if (!(await pins.unpin(id)))
      throw new SondeError('INC_UNKNOWN', `${JSON.stringify(id.slice(0, 100))} is not pinned`)
    await audit(request, 'incident.unpin', id)
    return reply.code(204).send()
  })
}

async function incidentsAnswer(agent: Agent, wanted: IncidentFilter): Promise<IncidentsAnswer> {
  // Without the store, notes of earlier lives are missing, but incidents are listed.
  await agent.incidentNotes.opened().catch(() => undefined)
  return { ...(await agent.incidents.list(wanted)), traceback: tracebackRules(agent) }
}

/** Incidents of now and of the last hour, from memory. */
export function recentAnswer(agent: Agent): IncidentsAnswer {
  const { nowMs, fromMs, toMs, rules, blind, unknown } = agent.hints.answer()
  const told = { nowMs: nowMs || Date.now(), fromMs, toMs, rules, blind, unknown }
  const incidents = agent.incidents.recent()
  const openCount = incidents.filter(({ state }) => state === 'open').length
  return { ...told, incidents, openCount, traceback: tracebackRules(agent) }
}

async function movedAnswer(agent: Agent, id: string, asker: Asker): Promise<MovedAnswer> {
  const { incident } = await incidentAnswer(agent, id)
  const { types } = await agentCatalogue(agent).types()
  const deviceOf = ({ entity }: ListedType, labels: Labels) => agent.devices.deviceOf({ entity }, labels)?.id
  const history = { query: (request: QueryRequest) => agent.history.query(request, asker) }
  return movedSignals({ incident, types, history, deviceOf })
}

/** The rules of traceback, and what limits left out. */
function tracebackRules({ traceback, rules, ruleWatch, recent }: Agent): IncidentRules {
  const fault = rules?.fault
  const book = rules?.book
  const devices = ruleWatch.devices()
  const types = recent.types()
  return {
    watching: (book?.rules ?? []).map((rule) => {
      const { name } = rule
      const own = devices.get(name) ?? []
      const left = own.length === 0 ? ruleWatch.leftOf(name) : undefined
      const condition = describeRule(rule, book as RuleBook, types)
      return { name, condition, devices: own, ...(left === undefined ? {} : { left }) }
    }),
    ...(fault === undefined ? {} : { fault }),
    limited: traceback.limitedTotal(),
    removed: traceback.archive.removed,
  }
}

function textOf(body: unknown): string {
  return read.text('text', read.object('the body', body, ['text']).text, NOTE_LENGTH_MAX)
}

function filterOf(request: FastifyRequest): IncidentFilter {
  const fromMs = timeIn(request, 'from')
  const toMs = timeIn(request, 'to')
  const limit = numberIn(request, 'limit') ?? LIMIT_DEFAULT
  const { find } = parameter(request, 'find')
  const severity = wordIn(request, 'severity', SEVERITIES)
  const kind = wordIn(request, 'kind', KINDS)
  const state = wordIn(request, 'state', STATES)
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw new SondeError('QRY_FORM', `limit is ${limit}; allowed: a whole number from 1 to ${LIMIT_MAX}`)
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs)
    throw new SondeError('QRY_FORM', `to is ${toMs}, not after from; allowed: later than from`)
  if (find !== undefined && find.length > FIND_CHARS_MAX)
    throw new SondeError('QRY_FORM', `find has ${find.length} characters; allowed: ${FIND_CHARS_MAX} at most`)
  return {
    ...parameter(request, 'device'),
    ...parameter(request, 'rule'),
    ...parameter(request, 'cursor'),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(severity === undefined ? {} : { severity }),
    ...(kind === undefined ? {} : { kind }),
    ...(state === undefined ? {} : { state }),
    ...(find === undefined ? {} : { find }),
    limit,
  }
}

function wordIn<Word extends string>(request: FastifyRequest, name: string, words: readonly Word[]): Word | undefined {
  const text = parameter(request, name)[name]
  if (text === undefined || words.includes(text as Word)) return text as Word | undefined
  throw new SondeError('QRY_FORM', `${name} is ${JSON.stringify(text.slice(0, 100))}; allowed: ${words.join(', ')}`)
}

function timeIn(request: FastifyRequest, name: string): number | undefined {
  const ms = numberIn(request, name)
  if (ms === undefined || (ms >= 0 && ms <= TIME_MAX_MS)) return ms
  throw new SondeError('QRY_FORM', `${name} is ${ms}; allowed: 0 to ${TIME_MAX_MS}`)
}

/** A number of the address; undefined if it is not there. */
export function numberIn(request: FastifyRequest, name: string): number | undefined {
  const text = parameter(request, name)[name]
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isFinite(number)) return number
  throw new SondeError('QRY_FORM', `${name} is ${JSON.stringify(text.slice(0, 100))}; allowed: a number`)
}
