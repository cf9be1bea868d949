import { type Agent, agentRoutes, createServer } from '@sonde/agent'
import { identityOf, whoOf } from '@sonde/console'
import { printable, sondeCommand } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Loaded } from '../config/load.ts'
import { growSlowly } from '../restart-small.ts'
import { authorizeBy } from './access.ts'
import { openListeners } from './listeners.ts'
import { type Management, managementRoutes } from './management.ts'

/** A running command. */
export interface Running {
  /** Its address, as in the ready line. */
  readonly addresses: string
  close(): Promise<void>
}

/** Opens the listener of an agent, then starts its sources. A port in use thus fails before anything runs. */
export async function serveAgent(
  agent: Agent,
  loaded: Loaded,
  management: Management,
  more: (app: FastifyInstance) => Promise<void> | void = () => undefined,
): Promise<Running> {
  const app = createServer(agent, authorizeBy(management.access), management.tls?.certificates)
  const { audit } = management.access
  agentRoutes(app, agent, {
    whoAsks: (request) => identityOf(request).name,
    audit: (request, action, what) => audit.note({ timeMs: Date.now(), action, ...whoOf(request), what }),
  })
  managementRoutes(app, management)
  await more(app)
  const listeners = await openListeners(app, agent, loaded.config.agent.export.prometheus).catch(async (error) => {
    await app.close()
    await agent.close()
    throw error
  })
  agent.start()
  growSlowly()
  return {
    addresses: listeners.addresses,
    async close() {
      await listeners.close()
      await agent.close()
    },
  }
}

/**
 * How long the ready line waits for sources. A source whose child process hangs is reported as stuck by then, because a
 * call takes at most 5 s. Unit: milliseconds.
 */
const READY_LIMIT_MS = 15_000

/**
 * Waits at most `limitMs` until every source was sampled or has settled, and reports all in one line. A source that has
 * not settled by then is reported as `starting`. Absent hardware that nobody asked for is normal, so it comes last and
 * without its reason.
 */
export async function readyLine(
  agent: Agent,
  addresses: string,
  { usual, extra }: { readonly usual: ReadonlySet<string>; readonly extra: string },
  limitMs = READY_LIMIT_MS,
): Promise<string> {
  const deadlineMs = Date.now() + limitMs
  while (!agent.sources.every(({ settled }) => settled) && Date.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await agent.service?.settled
  const isQuiet = ({ name, state }: { name: string; state: string }) => state === 'absent' && usual.has(name)
  const absent = agent.sources.filter(isQuiet).map(({ name }) => name)
  const others = agent.sources.filter((source) => !isQuiet(source))
  const found = others.map(({ name, state, reason, found: what }) => {
    if (state === 'reading') return `${name} (${what})`
    return `${name} ${state}${reason === '' ? '' : `: ${reason}`}`
  })
  if (absent.length > 0) found.push(`absent: ${absent.join(', ')}; ${sondeCommand()} check says why`)
  return printable(
    `Sonde is ready on ${addresses} · ${found.join(' · ') || 'no sources'}${extra === '' ? '' : ` · ${extra}`}`,
  )
}

/** Names of the sources that run because nobody configured others: each value of their entries is a default. */
export function usualSources({ plain, originOf }: Loaded): ReadonlySet<string> {
  const entries = plain.data_sources as readonly Readonly<Record<string, unknown>>[]
  const usual = entries.filter((entry, index) =>
    Object.keys(entry).every((key) => originOf(`data_sources[${index}].${key}`) === 'default'),
  )
  return new Set(usual.map(({ name }) => String(name)))
}
