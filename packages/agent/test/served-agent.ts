import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { counter, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import { check } from '@sonde/sdk/config'
import type { History } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import * as v from 'valibot'
import { type Agent, createAgent } from '../src/agent.ts'
import type { AgentOptions } from '../src/agent-options.ts'
import { type AgentConfig, exportSchema, limitsSchema } from '../src/config.ts'
import { agentRoutes, createServer } from '../src/http/server.ts'
import { serviceSchema } from '../src/service/config.ts'
import { sampled } from '../src/sources/sampled.ts'
import type { NodeSource, SourceContext, SourceDefinition } from '../src/sources/source.ts'
import { tracebackSchema } from '../src/traceback/config.ts'

/** One row a device and sample; the counter counts samples, the gauge is the time of the sample. */
const steadyType = defineType('steady', 'Samples of a source that does what it should', {
  time: timestamp(),
  device: label('Device'),
  samples_total: counter('u64', { help: 'Samples taken' }),
  sampled_ms: gauge('f64', { unit: 'milliseconds', help: 'Time of the sample' }),
})

/** Options of {@link serveAgent}. */
export interface ServeOptions {
  /** Devices of the source; a function is asked at each sample. Default: 2. */
  readonly devices?: number | (() => number)
  /** Sources beside the steady one, each with its own options by default. */
  readonly sources?: readonly SourceDefinition[]
  readonly paths?: AgentConfig['paths']
  readonly limits?: object
  readonly prometheus?: object
  /** Destinations beside `prometheus`, as `export` of a file has them. */
  readonly export?: object
  /** Default: it is off. A test that wants applications says where its socket is: they run beside one another. */
  readonly service?: object
  /** Default: a folder of events that ends with the test. */
  readonly traceback?: object
  readonly history?: History
  /** The records of a store, and the folder of pins beside it. */
  readonly kept?: Pick<AgentOptions, 'kept' | 'pinsDir'>
  /** Adds routes before the server listens. */
  readonly routes?: (app: FastifyInstance, agent: Agent) => void
}

/** An agent with a steady source behind a listener on a free port of loopback. Both end with the test. */
export async function serveAgent(
  test: Pick<TestContext, 'after'>,
  options: ServeOptions = {},
): Promise<{ agent: Agent; address: string; app: FastifyInstance }> {
  const exports = check(exportSchema, { prometheus: options.prometheus ?? {}, ...options.export }, 'export')
  const limits = check(limitsSchema, options.limits ?? {}, 'limits')
  const dir = mkdtempSync(join(tmpdir(), 'sonde-traceback-'))
  const service = check(serviceSchema, { dir, ...(options.service ?? { enabled: false }) }, 'service')
  const traceback = check(tracebackSchema, { dir, ...options.traceback }, 'traceback')
  if (!traceback.ok) throw new Error('the test has a wrong configuration of traceback')
  if (!exports.ok || !limits.ok || !service.ok) throw new Error('the test has a wrong configuration')
  const { devices = 2 } = options
  const definition = steady(typeof devices === 'number' ? () => devices : devices)
  const agent = createAgent({
    config: {
      dataSources: [definition, ...(options.sources ?? [])].map((one) => {
        return { name: one.name, definition: one, intervalMs: 50, options: v.parse(one.options, {}) }
      }),
      paths: options.paths ?? { procfs: '/proc', sysfs: '/sys' },
      export: exports.value,
      limits: limits.value,
      service: service.value,
      traceback: traceback.value,
    },
    log: pino({ level: 'silent' }),
    version: 'test',
    ...(options.history === undefined ? {} : { history: options.history }),
    ...options.kept,
  })
  const app = createServer(agent)
  agentRoutes(app, agent)
  options.routes?.(app, agent)
  test.after(async () => {
    await app.close()
    await agent.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  agent.start()
  return { agent, address, app }
}

function steady(devices: () => number): SourceDefinition {
  return {
    name: 'steady',
    summary: 'Reports a row a device',
    types: [steadyType],
    host: 'agent',
    intervalMs: 50,
    options: v.strictObject({}),
    load: async () => ({ create: (_options, context) => steadySource(devices, context) }),
  }
}

function steadySource(devices: () => number, context: SourceContext): NodeSource {
  const { source } = context
  let samples = 0
  return sampled(
    {
      probe: () => ({ state: 'present', found: `${devices()} devices` }),
      sample() {
        samples++
        const time = wallNs()
        for (let i = 0, count = devices(); i < count; i++)
          source.report(steadyType, {
            time,
            device: `dev${i}`,
            samples_total: samples,
            sampled_ms: Number(time) / 1e6,
          })
      },
      close: () => undefined,
    },
    context,
  )
}
