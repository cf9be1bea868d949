import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { type TestContext, test } from 'node:test'
import { createIpc, createSchema, defineType, gauge, label, type RecordType, text, timestamp, wallNs } from '@sonde/sdk'
import type { ExplainWalk, ListedDevice } from '@sonde/sdk/api'
import { temporaryFolder } from '../../../sdk/test/files-rig.ts'
import { until } from '../../../sdk/test/helper.ts'
import { belts } from '../../test/belt-source.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { netdev } from '../sources/netdev/netdev.ts'
import { TestNode } from '../sources/test-node.ts'

async function serve(t: TestContext) {
  const node = new TestNode(t)
  node.write('proc/net/dev', `Inter-|\n face |\nlo: ${'0 '.repeat(16)}\n`)
  const { definition, running } = belts()
  const sockets = temporaryFolder(t)
  const { agent, address } = await serveAgent(t, {
    sources: [definition, netdev],
    paths: node.paths,
    service: { sockets_dir: sockets },
  })
  const ask = async <T>(route: string) => (await (await fetch(`${address}/api/v1/${route}`)).json()) as T
  const device = async (id: string) =>
    (await ask<{ devices: ListedDevice[] }>('devices')).devices.find((one) => one.id === id)
  return { agent, running, sockets, ask, device }
}

/** An application that reports one record of each type. */
async function application(t: TestContext, socketsDir: string, types: readonly RecordType[], values: object) {
  const schema = createSchema({ name: 'hall', sinks: [createIpc({ socketsDir })] })
  t.after(() => schema.close())
  for (const type of types) schema.addType(type)
  await schema.start()
  const source = schema.createSource({ id: 'hall', tag: 'test' })
  for (const type of types) source.report(type, { time: wallNs(), ...values } as never)
  await source.flush()
  return schema
}

test('an entity that one type declares is a device, with what it names and what names it', async (t) => {
  const { device, ask } = await serve(t)
  const north = await until('the belt', async () => {
    const found = await device('conveyor_belt-north')
    return (found?.relations.length ?? 0) > 1 ? found : undefined
  })
  assert.deepEqual(
    [north.kind, north.name, north.host, north.state, north.simulated],
    ['conveyor_belt', 'north', hostname(), 'present', false],
  )
  assert.deepEqual([north.labels, north.type, north.source], [{ belt: 'north' }, 'belt_info', 'belts'])
  assert.deepEqual(north.relations, ['net-lo', 'robot-walter/left'], 'a shorter key means the first such')
  assert.deepEqual((await device('net-lo'))?.relations, ['conveyor_belt-north'])
  assert.deepEqual((await device('robot-walter/left'))?.relations, ['conveyor_belt-north', 'conveyor_belt-south'])
  assert.deepEqual((await device('conveyor_belt-south'))?.relations, ['robot-walter/left'], 'nobody is nowhere')
  const { types } = await ask<{ types: { name: string; entity?: object }[] }>('types')
  assert.deepEqual(types.find(({ name }) => name === 'belt_roller')?.entity, { kind: 'conveyor_belt', key: ['belt'] })
})

test('it is explained, by its id and by its name, while it is there and after it left', async (t) => {
  const { device, running, ask } = await serve(t)
  await until('the belt', () => device('conveyor_belt-north'))
  for (const named of ['conveyor_belt-north', 'north']) {
    const { source, links } = await ask<ExplainWalk>(`explain?of=${named}`)
    assert.deepEqual([source, links.map(({ state }) => state)], ['belts', ['ok', 'ok', 'ok']], JSON.stringify(links))
    assert.match(links.at(-1)?.answer ?? '', /^7 of 7 values, newest /)
  }
  running.delete('north')
  const gone = await until('its end', async () => {
    const found = await device('conveyor_belt-north')
    return found?.state === 'gone' ? found : undefined
  })
  assert.deepEqual([gone.goneReason, gone.relations], ['its hall is closed', []])
  assert.deepEqual((await device('net-lo'))?.relations, [])
  const { links } = await ask<ExplainWalk>('explain?of=north')
  const broken = links.find(({ state }) => state === 'broken')
  assert.match(broken?.answer ?? '', /^north: it left .* ago: its hall is closed$/)
})

test('an application has entities of its own kinds, which leave with it, and none of the hardware', async (t) => {
  const { agent, sockets, device, ask } = await serve(t)
  const claiming = (name: string, kind: string) =>
    defineType(
      name,
      'What an application claims',
      { time: timestamp(), gpu: label(), interface: text(), level: gauge('f64') },
      { entity: { kind, key: ['gpu'], defines: true, joins: [{ by: 'netdev', field: 'interface' }] } },
    )
  const kinds = ['shift', 'gpu', 'nic', 'port', 'netdev', 'pci', 'conveyor_belt', 'sim', 'net']
  const types = kinds.map((kind) => claiming(`claim_${kind}`, kind))
  const schema = await application(t, sockets, types, { gpu: '7', interface: 'lo', level: 1 })
  const shift = await until('what the application tells of', () => device('shift-7'))
  assert.deepEqual([shift.kind, shift.source, shift.relations], ['shift', 'hall', ['net-lo']])
  const { devices } = await ask<{ devices: ListedDevice[] }>('devices')
  assert.deepEqual(
    devices.filter(({ name, labels }) => name.includes('7') || labels.gpu === '7').map(({ id }) => id),
    ['shift-7'],
    'nothing that the agent itself knows of',
  )
  assert.equal(agent.service?.stats.ignoredClaims, 8)
  const { source, links } = await ask<ExplainWalk>('explain?of=shift-7')
  assert.deepEqual([source, links.map(({ name, state }) => `${name} ${state}`)], ['hall', ['agent ok', 'value ok']])
  await schema.close()
  const gone = await until('its end', async () => {
    const found = await device('shift-7')
    return found?.state === 'gone' ? found : undefined
  })
  assert.match(gone.goneReason ?? '', /the application that reported it has ended/)
  const told = await ask<ExplainWalk>('explain?of=shift-7')
  assert.deepEqual([told.links[0]?.state, told.links[0]?.fix], ['broken', 'find out why hall no longer reports it'])
})
