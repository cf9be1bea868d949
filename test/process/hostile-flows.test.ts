// Flows of clients that forge their types: a flow of an honest client reaches the collector all the same.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createIpc, createSource, defineType, element, timestamp, value, wallNs } from '@sonde/sdk'
import { definitionOf } from '@sonde/sdk/internal'
import { RawClient } from '../../packages/agent/test/raw-client.ts'
import { FlowCollector } from '../../packages/sdk/test/flow-collector.ts'
import { numberOf } from '../../packages/sdk/test/flow-decoder.ts'
import { metricsOf } from '../ask.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 30_000
const TYPES_A_CLIENT = 256
/** With 256 types each: 5120 templates. A sink knows 4096 at once. */
const CLIENTS = 20

const flow = defineType('honest_flow', 'A flow', { time: timestamp(), port: element('L4_SRC_PORT') })
const forged = defineType('forged_flow', 'A flow', { time: timestamp(), port: element('IN_BYTES', value('u64')) })

/** The element of the honest flows. */
const PORT = 7

/** Changes of the definition of a field with an element. */
const FORGERIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'element 0': { element: 0 },
  'a negative element': { element: -1 },
  'an element of enterprises': { element: 0x8001 },
  'a fraction': { element: 1.5 },
  'a text as element': { element: '1' },
  'an object as element': { element: { valueOf: 1 } },
  'a number without limit as element': { element: 1e300 },
  'an address of IPv6 in 8 bytes': { element: 27 },
  'an address of IPv4 in 8 bytes': { element: 8 },
  'a field without bytes': { kind: 'char', count: 0 },
  'a negative size': { kind: 'char', count: -1 },
  'more bytes than a record has': { kind: 'char', count: 2 ** 31 },
  'a kind that is none': { kind: 'u128' },
  'a symbol': { kind: 'symbol' },
}

test('a client that forges flow types, or has thousands of them, costs an honest client no flow', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const collector = await FlowCollector.start(t)
  const config = join(path, 'sonde.yaml')
  writeFileSync(config, `export: { netflow: { port: ${collector.port}, linger_ms: 0 } }\n`)
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: path, XDG_STATE_HOME: path }
  const agent = await startSonde(['agent', '--config', config], { env })
  t.after(() => agent.stop('SIGKILL'))
  const sink = createIpc({ socketsDir: path, program: 'honest' })
  t.after(() => sink.close())
  const source = createSource({ id: 'honest', emit: (batch) => sink.accept(batch) })
  let sent = 0
  const report = async () => {
    source.report(flow, { time: wallNs(), port: ++sent })
    source.flush()
    await sink.flush()
  }
  await report()

  const definition = definitionOf(forged)
  for (const [title, change] of Object.entries(FORGERIES)) {
    const raw = await RawClient.enter(path)
    const fields = definition.fields.map((field) => (field.name === 'port' ? { ...field, ...change } : field))
    const body = [{ index: 0, fingerprint: forged.fingerprint, definition: { ...definition, fields } }]
    raw.send({ kind: 'types', body } as never)
    assert.equal(await raw.refused(), 'SCH_DEFINITION', title)
    const { message } = await raw.heard('error')
    assert.match(message, /: field port of type forged_flow has .*; allowed: /, title)
    await report()
  }

  for (let client = 0; client < CLIENTS; client++) {
    const raw = await RawClient.enter(path)
    const types = Array.from({ length: TYPES_A_CLIENT }, (_, index) =>
      defineType(`many_${client}_${index}`, '', { port: element('IN_BYTES', value('u64')) }),
    )
    const body = types.map((type, index) => ({ index, fingerprint: type.fingerprint, definition: definitionOf(type) }))
    raw.send({ kind: 'types', body })
    raw.send({ kind: 'source', body: { index: 0, id: 'many', tag: '', labels: {}, schema: '' } })
    for (const index of types.keys()) raw.page(index + 1, 1, Buffer.alloc(8), { type: index })
    await raw.heard('ack')
    if (client % 10 === 0) await report()
    raw.close()
  }
  await report()
  const ports = () =>
    collector.records.flatMap(({ fields }) => (fields.has(PORT) ? [Number(numberOf(fields.get(PORT)))] : []))
  await until('all honest flows', LIMIT_MS, () => ports().length >= sent)
  assert.deepEqual(
    ports(),
    Array.from({ length: sent }, (_, i) => i + 1),
  )
  assert.deepEqual([...sink.stats.dropped], [])
  assert.match(await metricsOf(agent), /^sonde_sink_up\{sink="netflow"\} 1/m)
  assert.equal(agent.child.exitCode, null, agent.output())
})
