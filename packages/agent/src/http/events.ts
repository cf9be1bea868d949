import { SondeError } from '@sonde/sdk'
import type { EventsAnswer } from '@sonde/sdk/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import type { RuleBook } from '../rules/rule.ts'
import { describeRule } from '../traceback/describe-rule.ts'
import type { EventFilter } from '../traceback/event-list.ts'
import { answerRoute } from './answer-route.ts'
import { numberIn } from './incidents.ts'
import { parameter } from './query.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000

/** `GET /api/v1/events`: the events of traceback. */
export function eventsRoute(app: FastifyInstance, agent: Agent): void {
  answerRoute(app, '/api/v1/events', async (request) => {
    const filter = filterOf(request)
    await agent.traceback.opened()
    return eventsAnswer(agent, filter)
  })
}

/** The events that match, and how traceback fares. */
export function eventsAnswer(agent: Agent, filter: EventFilter = { limit: LIMIT_DEFAULT }): EventsAnswer {
  const { traceback, rules, ruleWatch } = agent
  const rulesFault = rules?.fault
  const book = rules?.book
  const devices = ruleWatch.devices()
  const { events, leftOut } = traceback.list(filter)
  return {
    nowMs: Date.now(),
    events,
    leftOut,
    openCount: traceback.openCount,
    rules: (book?.rules ?? []).map((rule) => {
      const { name } = rule
      const own = devices.get(name) ?? []
      const left = own.length === 0 ? ruleWatch.leftOf(name) : undefined
      const condition = describeRule(rule, book as RuleBook)
      return { name, condition, devices: own, ...(left === undefined ? {} : { left }) }
    }),
    ...(rulesFault === undefined ? {} : { rulesFault }),
    limited: traceback.limitedTotal(),
    removed: traceback.archive.removed,
  }
}

function filterOf(request: FastifyRequest): EventFilter {
  const { rule } = parameter(request, 'rule')
  const { device } = parameter(request, 'device')
  const { state } = parameter(request, 'state')
  if (state !== undefined && state !== 'open' && state !== 'closed')
    throw new SondeError('QRY_FORM', `state is ${JSON.stringify(state.slice(0, 100))}; allowed: open, closed`)
  const fromMs = numberIn(request, 'from')
  const toMs = numberIn(request, 'to')
  const limit = numberIn(request, 'limit') ?? LIMIT_DEFAULT
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    throw new SondeError('QRY_FORM', `limit is ${limit}; allowed: a whole number from 1 to ${LIMIT_MAX}`)
  if (fromMs !== undefined && toMs !== undefined && toMs < fromMs)
    throw new SondeError('QRY_FORM', `to is ${toMs}, before from; allowed: from, or later`)
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(device === undefined ? {} : { device }),
    ...(state === undefined ? {} : { state }),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    limit,
  }
}
