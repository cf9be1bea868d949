import type { HopOfNode, HopState, TroubleshootingHop } from '@sonde/sdk/api'
import { countOf, shellWord } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { AgentLink } from '../agents/agent-link.ts'
import type { Agents } from '../agents/agents.ts'
import { askEach } from '../agents/ask-each.ts'
import type { Reader } from './commands.ts'
import { sentence } from './facts.ts'

/** Nodes of a hop. Policy: the best are left out; the finding counts all. */
const NODE_COUNT_MAX = 20
const NAMED_COUNT = 3
/** The worst first. */
const ORDER: readonly HopState[] = ['broken', 'unknown', 'off', 'ok']

const text = v.pipe(
  v.string(),
  v.transform((given) => given.slice(0, 1000)),
)
/** Commands of an agent are not taken: people would run them. */
const hopSchema = v.object({
  name: text,
  state: v.picklist(['ok', 'broken', 'unknown', 'off']),
  finding: text,
  advice: text,
})
const answerSchema = v.object({ hops: v.pipe(v.array(hopSchema), v.maxLength(32)) })

/** The hops of an agent by name; undefined if it gives none. */
type HopsOfAgent = ReadonlyMap<string, HopOfNode> | undefined

/** The agents of a console: whether they answer. */
export function agentsHop(agents: Agents): TroubleshootingHop {
  const { nodes, faults } = agents.answer()
  const silent = nodes.filter(({ state }) => state !== 'reachable')
  const asked = silent.filter(({ state }) => state !== 'asking')
  const [fault] = faults
  const counts = `${nodes.length - silent.length} of ${countOf(nodes.length, 'agent')} answer.`
  const common = { name: 'Agents', commands: asked.slice(0, NAMED_COUNT).map(({ url }) => healthCommand(url)) }
  const listed = silent.map(({ name: node, state, reason }): HopOfNode => {
    return { node, state: state === 'asking' ? 'unknown' : 'broken', finding: sentence(reason), advice: '' }
  })
  const shown = { ...common, nodes: worstFirst(listed) }
  if (fault !== undefined) return { ...shown, state: 'broken', finding: `${counts} ${sentence(fault)}`, advice: '' }
  if (asked.length > 0) {
    const advice = 'See whether Sonde runs on these nodes, and whether this machine reaches it.'
    return { ...shown, state: 'broken', finding: counts, advice }
  }
  return { ...shown, state: silent.length === 0 ? 'ok' : 'unknown', finding: counts, advice: '' }
}

function healthCommand(url: string): string {
  return `curl -sS ${shellWord(`${url}/healthz`)}`
}

/** Hops of this server, with what each of its agents finds at them. */
export async function hopsOverNodes(
  own: readonly TroubleshootingHop[],
  links: readonly AgentLink[],
  { exporter, program }: Reader,
  signal: AbortSignal,
): Promise<TroubleshootingHop[]> {
  const answers = await askEach<HopsOfAgent>(links, {
    path: `/api/v1/troubleshooting?exporter=${exporter}&program=${program}`,
    signal,
    read: (answer, { place }) =>
      new Map(v.parse(answerSchema, answer).hops.map((hop) => [hop.name, ofNode(place.name, hop)])),
    unanswered: () => undefined,
  })
  return own.map((hop) => {
    const found = answers.flatMap((hops) => hops?.get(hop.name) ?? [])
    return withNodes(hop, found, links.length)
  })
}

function ofNode(node: string, { state, finding, advice }: v.InferOutput<typeof hopSchema>): HopOfNode {
  return { node, state, finding, advice }
}

function withNodes(hop: TroubleshootingHop, found: readonly HopOfNode[], nodeCount: number): TroubleshootingHop {
  const seen = hop.finding === '' ? found : [...found, hop]
  const has = (wanted: HopState) => seen.some(({ state }) => state === wanted)
  const state = (['broken', 'ok', 'unknown', 'off'] as const).find(has) ?? 'unknown'
  const counts = nodeCount === 0 ? [] : [countsOf(found, nodeCount)]
  const finding = [...counts, hop.finding].filter((each) => each !== '').join(' ')
  return { ...hop, state, finding, nodes: worstFirst(found) }
}

/** A sentence that counts the nodes by state. */
function countsOf(found: readonly HopOfNode[], nodeCount: number): string {
  const count = (wanted: HopState) => found.filter(({ state }) => state === wanted).length
  const [broken, ok, off] = [count('broken'), count('ok'), count('off')]
  const counts: readonly (readonly [string, number])[] = [
    ['broken on', broken],
    ['works on', ok],
    ['off on', off],
    ['not known of', nodeCount - broken - ok - off],
  ]
  const parts = counts.filter(([, number]) => number > 0).map(([words, number]) => `${words} ${number}`)
  return sentence([`${parts[0]} of ${countOf(nodeCount, 'node')}`, ...parts.slice(1)].join(', '))
}

function worstFirst(found: readonly HopOfNode[]): readonly HopOfNode[] {
  const ranked = found.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || byName(a.node, b.node))
  return ranked.slice(0, NODE_COUNT_MAX)
}

function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
