import { hostname } from 'node:os'
import { SondeError } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/api'
import { sondeCommand } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'

/** Only an agent can answer these routes: it has the devices, their events and their hints. */
const OF_AGENTS = [
  '/api/v1/sources',
  '/api/v1/sources/:name',
  '/api/v1/devices',
  '/api/v1/entities',
  '/api/v1/entities/:id',
  '/api/v1/hints',
  '/api/v1/incidents',
  '/api/v1/incidents/*',
  '/api/v1/pins',
  '/api/v1/explain',
  '/api/v1/versions',
  '/api/v1/simulator',
  '/api/v1/simulator/*',
] as const

/** What a console reports about itself. */
export interface ConsoleInfo {
  readonly version: string
  /** Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** Address of the server with the history, without credentials; empty if there is none. */
  readonly backend: string
  /** The contents of that history. */
  readonly history: { readonly told: { readonly hasSimulated: boolean; readonly agentCount: number } } | undefined
  /** How many agents the console asks itself; undefined if it is given none. */
  readonly nodeCount: () => number | undefined
  readonly certificate: () => NodeAnswer['certificate']
}

/** These routes need a history. */
const OF_HISTORY = [
  '/api/v1/query',
  '/api/v1/types',
  '/api/v1/series',
  '/api/v1/stream',
  '/api/v1/apps',
  '/api/v1/apps/*',
  '/api/v1/pods',
  '/api/v1/pods/*',
]

/** The node of a console without agents: no hardware, and a history on another server. */
export function describeConsole({ version, startedMs, backend, history, ...told }: ConsoleInfo): NodeAnswer {
  const { hasSimulated = false, agentCount = 0 } = history?.told ?? {}
  const count = told.nodeCount()
  const certificate = told.certificate()
  return {
    node: hostname(),
    version,
    startedMs,
    backend,
    agentCount,
    ...(count === undefined ? {} : { nodeCount: count }),
    ...(certificate === undefined ? {} : { certificate }),
    nowMs: Date.now(),
    hardware: {
      ...{ cpuModel: 'unknown', cpuCount: 0, memoryBytes: 0, interfaceCount: 0, gpuCount: 0, nicCount: 0 },
      ...{ gpus: '', nics: '', kernel: '' },
    },
    seriesCount: 0,
    recordsLost: 0,
    simulated: hasSimulated,
    command: sondeCommand(),
    store: {
      ...{
        state: 'none',
        reason: backend === '' ? 'Each agent has its own history.' : `History is in ${backend}.`,
        bytes: 0,
        oldestMs: null,
        ackedMs: 0,
      },
      ...{ queuedBytes: 0, errors: 0, corruptChunks: 0, backlogBytes: 0 },
    },
    service: { state: 'off', reason: '', socketsDir: '', ack: 'memory', clientCount: 0 },
  }
}

/** The routes of a console without an agent: its status, its health, and a clear error where an agent is needed. */
export function aloneRoutes(app: FastifyInstance, told: ConsoleInfo): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', () => ({ status: 'ready', waiting: [] }))
  app.get('/api/v1/node', (_request, reply) => reply.header('cache-control', 'no-store').send(describeConsole(told)))
  const place =
    told.nodeCount() === undefined
      ? 'Ask the sonde agent or sonde up of a node itself'
      : 'Ask a node of /api/v1/nodes, below /api/v1/nodes/NAME'
  refuse(app, OF_AGENTS, 'CON_NO_AGENT', `is answered by agents only. ${place}.`)
  if (told.history === undefined)
    refuse(app, OF_HISTORY, 'CON_NO_HISTORY', `needs a Prometheus, and this console has none. ${place}.`)
}

function refuse(app: FastifyInstance, urls: readonly string[], code: string, why: string): void {
  for (const url of urls) {
    app.all(url, ({ url: asked }) => {
      const [path = ''] = asked.split('?', 1)
      throw new SondeError(code, `${path.slice(0, 100)} ${why}`)
    })
  }
}
