import { type Agent, agentRoutes, createServer } from '@sonde/agent'
import { messageOf, SondeError } from '@sonde/sdk'
import type { FastifyInstance } from 'fastify'
import type { Loaded } from '../config/load.ts'

/** A running command. */
export interface Running {
  /** Where it listens. */
  readonly address: string
  close(): Promise<void>
}

/** Opens the listener of an agent, then starts its sources: a port that is taken fails before anything runs. */
export async function serve(
  agent: Agent,
  loaded: Loaded,
  more: (app: FastifyInstance) => Promise<void> | void = () => undefined,
): Promise<Running> {
  const { host, port } = loaded.config.agent.export.prometheus
  const app = createServer(agent)
  agentRoutes(app, agent)
  await more(app)
  try {
    await app.listen({ host, port })
  } catch (cause) {
    await app.close()
    await agent.close()
    throw new SondeError('CLI_LISTEN', listenMessage(cause, placeOf(host, port)), { cause })
  }
  agent.start()
  const bound = app.server.address()
  return {
    address: `http://${placeOf(host, typeof bound === 'object' && bound !== null ? bound.port : port)}`,
    async close() {
      await app.close()
      await agent.close()
    },
  }
}

function placeOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

const UNREACHABLE: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOTFOUND', 'no address is known for this name; give an address of this machine with --listen'],
  ['EAI_AGAIN', 'the name cannot be looked up for now; give an address of this machine with --listen'],
  ['EADDRNOTAVAIL', 'no interface of this machine has this address; give another one with --listen'],
])

function listenMessage(cause: unknown, place: string): string {
  const { code } = cause as { code?: string }
  if (code === 'EADDRINUSE') return `${place} is in use by another program; choose another address with --listen`
  if (code === 'EACCES') return `${place} needs more rights; choose a port above 1023 with --listen`
  const reason = UNREACHABLE.get(code) ?? messageOf(cause)
  return `cannot listen on ${place}: ${reason}`
}

/** Waits until every source was sampled or settled, at most `limitMs`, and tells what was found in one line. */
export async function readyLine(agent: Agent, address: string, extra: string, limitMs = 3000): Promise<string> {
  const deadlineMs = Date.now() + limitMs
  while (!agent.runners.every((runner) => runner.settled) && Date.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const found = agent.runners.map((runner) => {
    if (runner.state === 'reading') return `${runner.name} (${runner.found})`
    return `${runner.name} ${runner.state}${runner.reason === '' ? '' : `: ${runner.reason}`}`
  })
  return `Sonde is ready on ${address} · ${found.join(' · ') || 'no sources'}${extra === '' ? '' : ` · ${extra}`}`
}
