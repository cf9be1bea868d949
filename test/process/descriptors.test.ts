import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import type { SourceStatus } from '../ask.ts'
import { startSonde, until } from '../sonde-process.ts'

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
const FEW_DESCRIPTORS = ['sh', '-c', 'ulimit -n 80 && exec "$0" "$@"']

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
  const states = () =>
    new Promise<SourceStatus[]>((resolve, reject) => {
      get(`${sonde.address}/api/v1/sources`, { agent }, (answer) => {
        json(answer).then((body) => resolve((body as { sources: SourceStatus[] }).sources), reject)
      }).on('error', reject)
    })
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
