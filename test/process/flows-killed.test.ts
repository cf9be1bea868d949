// An agent with a queue on disk is killed while it sends flows: no flow is lost, and few come twice.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { FlowCollector } from '../../packages/sdk/test/flow-collector.ts'
import { FlowDecoder, numberOf } from '../../packages/sdk/test/flow-decoder.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const FLOWS = 1000
/** Flows of the example in 4096 bytes, the size of a request. */
const REQUEST_FLOWS_MAX = 24
const EXAMPLE = join(import.meta.dirname, '../../examples/netflow-export.ts')

test('an agent that is killed while it sends flows from a queue on disk sends the rest after its start', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const collector = await FlowCollector.start(t)
  const config = join(path, 'sonde.yaml')
  const limits = 'linger_ms: 0, batch_bytes_max: 4096, rate_limit_bytes_per_second: 65536'
  writeFileSync(
    config,
    `export: { netflow: { port: ${collector.port}, queue_dir: ${join(path, 'queue')}, ${limits} } }\n`,
  )
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: path, XDG_STATE_HOME: path }
  const agent = await startSonde(['agent', '--config', config], { env })
  t.after(() => agent.stop('SIGKILL'))
  await promisify(execFile)(process.execPath, ['--conditions=source', EXAMPLE, '--ipc', path])
  await until('some flows', 20_000, () => collector.records.length > 50)
  await agent.stop('SIGKILL')
  const before = collector.records.length
  assert.ok(before < FLOWS, 'it was killed while it was sending')
  // The agent that starts now is another exporter, and begins its sequence at 0.
  collector.decoder = new FlowDecoder()
  const next = await startSonde(['agent', '--config', config], { env })
  t.after(() => next.stop())
  const numbers = () => new Set(collector.records.map(({ fields }) => Number(numberOf(fields.get(280)))))
  await until('all flows', 60_000, () => numbers().size === FLOWS)
  const twice = collector.records.length - FLOWS
  assert.ok(twice <= REQUEST_FLOWS_MAX, `${twice} flows came twice`)
})
