import { SondeError } from '@sonde/sdk'
import { askerOf } from '@sonde/sdk/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Agent } from '../agent.ts'
import { answerRoute } from './answer-route.ts'
import { numberIn } from './events.ts'
import type { Queried } from './query.ts'

/**
 * `GET /api/v1/hints`: the current hints of the node, and those of the last hour; with `from` and `to`, the hints of a
 * past window.
 */
export function hintsRoute(app: FastifyInstance, agent: Agent, queried: Queried): void {
  answerRoute(app, '/api/v1/hints', (request) => {
    const window = windowOf(request)
    if (window === undefined) return agent.hints.answer()
    const { fromMs, toMs } = window
    return queried.places.take(askerOf(request), () => agent.hintHistory.window(fromMs, toMs))
  })
}

/** The window of the address; undefined if it asks for now. */
function windowOf(request: FastifyRequest): { readonly fromMs: number; readonly toMs: number } | undefined {
  const fromMs = numberIn(request, 'from')
  const toMs = numberIn(request, 'to')
  if (fromMs === undefined && toMs === undefined) return undefined
  if (fromMs === undefined || toMs === undefined)
    throw new SondeError('QRY_FORM', `${fromMs === undefined ? 'from' : 'to'} is missing; allowed: both, or neither`)
  if (toMs <= fromMs) throw new SondeError('QRY_FORM', `to is ${toMs}, not after from; allowed: later than from`)
  if (fromMs < 0 || toMs > TIME_MAX_MS)
    throw new SondeError('QRY_FORM', `from is ${fromMs}, to ${toMs}; allowed: 0 to ${TIME_MAX_MS}`)
  return { fromMs, toMs }
}

/** The last time that a JavaScript date holds. Unit: milliseconds since the Unix epoch. */
const TIME_MAX_MS = 8.64e15
