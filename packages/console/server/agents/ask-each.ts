import { messageOf } from '@sonde/sdk/internal'
import { agentJson } from './agent-answers.ts'
import type { AgentLink } from './agent-link.ts'

/** Agents that are asked at the same time. */
const PARALLEL = 16
/** Time for the answer of an agent. Unit: milliseconds. */
const LIMIT_MS = 10_000
/** Time for the answers of all. Policy: an agent that was not asked by then counts as one that does not answer. */
const LIMIT_OF_ALL_MS = 15_000

/** A question to several agents. */
export interface QuestionToEach<T> {
  /** Path and query. */
  readonly path: string
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal
  /** Checks an answer; an exception counts as no answer. */
  readonly read: (answer: unknown, link: AgentLink) => T
  /** Makes the entry of an agent that gives no answer. */
  readonly unanswered: (link: AgentLink, reason: string) => T
}

/** Asks several agents the same, and has something for each of them, in their order. */
export async function askEach<T>(links: readonly AgentLink[], question: QuestionToEach<T>): Promise<T[]> {
  const found: T[] = []
  const limit = AbortSignal.timeout(LIMIT_OF_ALL_MS)
  let next = 0
  const takeTurns = async (): Promise<void> => {
    for (let at = next++; at < links.length; at = next++) {
      const link = links[at]
      if (link !== undefined) found[at] = await askOne(link, question, limit)
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, links.length) }, takeTurns))
  return found
}

async function askOne<T>(
  link: AgentLink,
  { path, signal, read, unanswered }: QuestionToEach<T>,
  limit: AbortSignal,
): Promise<T> {
  try {
    limit.throwIfAborted()
    const headers = { accept: 'application/json' }
    const both = AbortSignal.any([signal, limit])
    const response = await link.ask({ method: 'GET', path, headers, signal: both, limitMs: LIMIT_MS })
    return read(await agentJson(response), link)
  } catch (error) {
    signal.throwIfAborted()
    return unanswered(link, limit.aborted ? 'too many agents answer slowly' : messageOf(error))
  }
}
