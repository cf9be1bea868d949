import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { createIpc, createSource, defineType, gauge, timestamp, wallNs } from '@sonde/sdk'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import type { SourceStatus } from '../ask.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'

const FIXTURES = new URL('../../packages/agent/src/sources/', import.meta.url)
const TREES = [
  'netdev/fixtures/veth-namespace',
  'host/fixtures/guest',
  'rdma/fixtures/small',
  'pci/fixtures/switch-pair',
]
const SOURCES = ['netdev', 'host', 'rdma', 'pci']
/** They list a folder each time. The others go on with the files that they have open. */
const OPENERS = ['rdma', 'pci']
const LIMIT_MS = 60_000
/** Descriptors that are enough for an agent and its store. */
const ENOUGH_COUNT = 160
const FEW_DESCRIPTORS = ['sh', '-c', 'ulimit -n 60 && exec "$0" "$@"']

const workType = defineType('work', 'What a newcomer reports', { time: timestamp(), done: gauge('f64') })

test('a source that has no descriptors left has failed for that reason; its hardware is not absent', async (t) => {
  const node = new TestNode(t, ...TREES.map((tree) => new URL(tree, FIXTURES)))
  const file = join(node.root, 'sonde.yaml')
  writeFileSync(file, JSON.stringify({ data_sources: SOURCES.map((type) => ({ type, interval_ms: 50 })) }))
  const roots = ['--path.procfs', node.paths.procfs, '--path.sysfs', node.paths.sysfs]
  const sonde = await startSonde(['agent', '--config', file, '--log-level', 'fatal', ...roots], {
    under: FEW_DESCRIPTORS,
  })
  t.after(() => sonde.stop('SIGKILL'))
  // One connection for all questions: there will be no other.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const askOnce = () =>
    new Promise<SourceStatus[]>((resolve, reject) => {
      get(`${sonde.address}/api/v1/sources`, { agent }, (answer) => {
        json(answer).then((body) => resolve((body as { sources: SourceStatus[] }).sources), reject)
      }).on('error', reject)
    })
  // An agent without descriptors may close this connection too, and refuse the next one for a moment.
  const states = () =>
    until('an answer', LIMIT_MS, () =>
      askOnce().catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNRESET') throw error
        return undefined
      }),
    )
  await until('every source to read', LIMIT_MS, async () => (await states()).every(({ state }) => state === 'reading'))

  const others = new Set<Socket>()
  const leave = () => {
    for (const socket of others) socket.destroy()
  }
  t.after(leave)
  const { hostname, port } = new URL(sonde.address)
  const failed = await until('sources to fail', LIMIT_MS, async () => {
    // A descriptor that a source gives up is taken at once.
    for (let count = 0; count < 20; count++) {
      const socket = connect(Number(port), hostname)
      others.add(socket)
      socket.on('error', () => undefined).on('close', () => others.delete(socket))
    }
    const found = await states()
    for (const { name, state, reason } of found) assert.notEqual(state, 'absent', `${name}: ${reason}`)
    const openers = found.filter(({ name }) => OPENERS.includes(name))
    return openers.every(({ state }) => state === 'failed') && openers
  })
  for (const { name, reason } of failed) assert.match(reason, /EMFILE/, name)

  leave()
  await until('every source to read again', LIMIT_MS, async () =>
    (await states()).every(({ state }) => state === 'reading'),
  )
})

test('connections without end leave descriptors to applications, scrapes and history', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const socketsDir = join(dir.path, 'sockets')
  const sonde = await startSonde(['up', '--data-dir', dir.path, '--only-simulated', '--simulate'], {
    under: ['sh', '-c', `ulimit -n ${ENOUGH_COUNT} && exec "$0" "$@"`],
    env: { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir },
  })
  t.after(() => sonde.stop('SIGKILL'))
  const { hostname, port } = new URL(sonde.address)
  const others = Array.from({ length: 2 * ENOUGH_COUNT }, () => connect(Number(port), hostname))
  for (const socket of others) {
    t.after(() => socket.destroy())
    socket.on('error', () => undefined).resume()
  }
  const closed = /^sonde_http_refused_requests_total\{reason="connections"\} 0*[1-9]/m
  await until('connections that make room', LIMIT_MS, async () => closed.test(await metricsOf(sonde)))
  const sink = createIpc({ socketsDir, program: 'newcomer' })
  t.after(() => sink.close())
  const source = createSource({ id: 'newcomer', emit: (batch) => sink.accept(batch) })
  source.report(workType, { time: wallNs(), done: 1 })
  source.flush()
  await sink.flush()
  assert.deepEqual([...sink.stats.dropped], [])
  assert.match(await metricsOf(sonde), /^work_done\{[^}]*\} 0*1$/m)
  assert.doesNotMatch(sonde.output(), /EMFILE/)
})

async function metricsOf({ address }: SondeProcess): Promise<string> {
  return (await fetch(`${address}/metrics`)).text()
}
