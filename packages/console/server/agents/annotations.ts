import type { Annotation, AnnotationsAnswer } from '@sonde/sdk/api'
import { type AnnotationsWanted, matchingAnnotations } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { AgentLink } from './agent-link.ts'
import { askEach } from './ask-each.ts'

/** Policy: the earliest are left out, and an annotation says so. */
const COUNT_MAX = 5000

const text = v.pipe(v.string(), v.maxLength(10_000))
const answerSchema = v.array(
  v.object({
    ...{ id: text, time: v.number(), timeEnd: v.number(), title: text, text },
    tags: v.pipe(v.array(text), v.maxLength(64)),
  }),
)

/** The annotations of several agents, by time. An agent that gives none is one itself. */
export async function annotationsOfAgents(
  links: readonly AgentLink[],
  wanted: AnnotationsWanted,
  signal: AbortSignal,
): Promise<AnnotationsAnswer> {
  const { fromMs, toMs } = wanted
  const found = await askEach<readonly Annotation[]>(links, {
    path: `/api/v1/annotations?from=${fromMs}&to=${toMs}`,
    signal,
    read: (answer) => v.parse(answerSchema, answer),
    unanswered: ({ place }, reason) => [unknown(place.name, wanted, reason)],
  })
  const sorted = matchingAnnotations(found.flat(), wanted)
  const left = sorted.length - COUNT_MAX
  if (left <= 0) return sorted
  const kept = sorted.slice(left)
  const reason = `${left} annotations are left out; ask for a shorter window or with tags`
  return [unknown('console', { ...wanted, toMs: kept[0]?.time ?? wanted.toMs }, reason), ...kept]
}

function unknown(
  name: string,
  { fromMs, toMs }: Pick<AnnotationsWanted, 'fromMs' | 'toMs'>,
  reason: string,
): Annotation {
  return {
    id: `${name}:unknown:${fromMs}`,
    ...{ time: fromMs, timeEnd: toMs, title: `Incidents of ${name} are not known`, text: reason },
    tags: ['sonde', name, 'unknown'],
  }
}
