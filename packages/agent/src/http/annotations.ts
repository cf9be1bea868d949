import type { Annotation, AnnotationsAnswer, Incident, IncidentsAnswer } from '@sonde/sdk/api'
import { type AnnotationsWanted, annotationsWanted, askerOf, matchingAnnotations } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import { answerRoute } from './answer-route.ts'
import type { Queried } from './query.ts'

/** Incidents of one answer. Policy: earlier ones are left out, and an annotation says so. */
const INCIDENT_COUNT_MAX = 1000

/** `GET /api/v1/annotations?from=&to=&tags=`: the incidents of a window as Grafana draws them. */
export function annotationsRoute(app: FastifyInstance, agent: Agent, queried: Queried): void {
  answerRoute(app, '/api/v1/annotations', (request) => {
    const wanted = annotationsWanted(request.query as Record<string, unknown>, Date.now())
    return queried.places.take(askerOf(request), () => annotationsIn(agent, wanted))
  })
}

async function annotationsIn({ incidents, node }: Agent, wanted: AnnotationsWanted): Promise<AnnotationsAnswer> {
  const { fromMs, toMs } = wanted
  const listed = await incidents.list({ fromMs, toMs, limit: INCIDENT_COUNT_MAX })
  return matchingAnnotations(annotationsOf(listed, node), wanted)
}

/** The incidents of an answer, and the time spans that it knows nothing of. */
export function annotationsOf(
  listed: Pick<IncidentsAnswer, 'fromMs' | 'toMs' | 'incidents' | 'next' | 'unknown'>,
  node: string,
): Annotation[] {
  const { incidents, toMs, fromMs, next, unknown } = listed
  const unlisted = next === undefined ? [] : [{ fromMs, toMs: leastEnd(incidents, toMs), reason: LEFT_OUT }]
  return [
    ...incidents.map((incident) => annotationOf(incident, toMs)),
    ...[...unknown, ...unlisted].map((span) => ({
      id: `${node}:unknown:${span.fromMs}`,
      ...{ time: span.fromMs, timeEnd: span.toMs, title: `Incidents of ${node} are not known`, text: span.reason },
      tags: ['sonde', node, 'unknown'],
    })),
  ]
}

const LEFT_OUT = `more than ${INCIDENT_COUNT_MAX} incidents are in the window; ask for a shorter window`

function annotationOf(incident: Incident, toMs: number): Annotation {
  const { id, node, kind, rule, severity, device, state, isSimulated, title, sentence, startMs, endMs } = incident
  const tags = ['sonde', node, kind, rule, severity, device, state === 'open' && 'open', isSimulated && 'simulated']
  return {
    id,
    ...{ time: startMs, timeEnd: endMs ?? Math.max(startMs, toMs), title, text: sentence },
    tags: [...new Set(tags.filter((tag) => tag !== false && tag !== ''))] as string[],
  }
}

/** The earliest end in a list, whose incidents end in falling order. */
function leastEnd(incidents: readonly Incident[], toMs: number): number {
  return Math.min(toMs, ...incidents.map(({ endMs = toMs }) => endMs))
}
