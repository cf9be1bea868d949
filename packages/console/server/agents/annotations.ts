import type { Annotation, AnnotationsAnswer } from '@sonde/sdk/api'
import { type AnnotationsWanted, matchingAnnotations, messageOf } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { agentJson } from './agent-answers.ts'
import type { AgentLink } from './agent-link.ts'

/** Agents that are asked at the same time. */
const PARALLEL = 16
/** Policy: the earliest are left out, and an annotation says so. */
const COUNT_MAX = 5000
const LIMIT_MS = 10_000

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
  const found: Annotation[] = []
  for (let at = 0; at < links.length; at += PARALLEL) {
    const some = links.slice(at, at + PARALLEL).map((link) => annotationsOfAgent(link, wanted, signal))
    found.push(...(await Promise.all(some)).flat())
  }
  const sorted = matchingAnnotations(found, wanted)
  const left = sorted.length - COUNT_MAX
  if (left <= 0) return sorted
  const kept = sorted.slice(left)
  const reason = `${left} annotations are left out; ask for a shorter window or with tags`
  return [unknown('console', { ...wanted, toMs: kept[0]?.time ?? wanted.toMs }, reason), ...kept]
}

async function annotationsOfAgent(
  link: AgentLink,
  wanted: AnnotationsWanted,
  signal: AbortSignal,
): Promise<readonly Annotation[]> {
  const { fromMs, toMs } = wanted
  try {
    const path = `/api/v1/annotations?from=${fromMs}&to=${toMs}`
    const headers = { accept: 'application/json' }
    const response = await link.ask({ method: 'GET', path, headers, signal, limitMs: LIMIT_MS })
    return v.parse(answerSchema, await agentJson(response))
  } catch (error) {
    signal.throwIfAborted()
    return [unknown(link.place.name, wanted, messageOf(error))]
  }
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
