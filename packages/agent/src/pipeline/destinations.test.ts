import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Batch, chars, createSource, defineType, timestamp, wallNs } from '@sonde/sdk'
import { readFiles, temporaryFolder } from '../../../sdk/test/files-rig.ts'
import { until } from '../../../sdk/test/helper.ts'
import { HttpPeer } from '../../../sdk/test/http-peer.ts'
import { RawClient } from '../../test/raw-client.ts'
import { serveAgent } from '../../test/served-agent.ts'

test('where export.files is enabled, everything that sources report is in files, and /metrics tells how they fare', async (t) => {
  const root = temporaryFolder(t)
  const { agent, address } = await serveAgent(t, { export: { files: { data_root: root } } })
  const metrics = async () => (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  await until('the sink is told of', async () =>
    /^sonde_sink_records_out_total\{sink="files"\} [1-9]/m.test(await metrics()),
  )
  await agent.close()
  const files = readFiles(root)
  assert.deepEqual([...new Set(files.map(({ source }) => source?.id))].sort(), ['self', 'steady'])
  for (const { source, end } of files)
    assert.deepEqual([end.state, source?.schema, source?.version], ['ended', 'sonde', 'test'])
  const samples = files.flatMap(({ batches }) => batches.filter(({ type }) => type.name === 'steady'))
  const counted = samples.flatMap(({ records }) => records.map(({ samples_total }) => Number(samples_total)))
  const last = Math.max(...counted)
  // Two devices, each sample once.
  assert.deepEqual(
    counted.sort((a, b) => a - b),
    Array.from({ length: last * 2 }, (_, i) => 1 + (i >> 1)),
  )
})

test('records of another clock are in files as they came, clock and times', async (t) => {
  const root = temporaryFolder(t)
  const service = { enabled: true, sockets_dir: join(temporaryFolder(t), 'sockets') }
  const { agent } = await serveAgent(t, { service, export: { files: { data_root: root } } })
  await agent.service?.settled
  const raw = await RawClient.enter(service.sockets_dir)
  raw.announce(job)
  const bytes = oneJob()
  bytes.writeBigUInt64LE(77n, job.time?.offset)
  raw.page(1, 1, bytes, { clock: 'device' })
  const { dropped, hidden } = await raw.heard('ack', ({ sequence }) => sequence === 1n)
  assert.deepEqual([dropped, hidden], [{}, { untranslated: 1 }])
  raw.close()
  await agent.close()
  const batches = readFiles(root).flatMap((file) => file.batches.filter(({ type }) => type.name === 'job'))
  assert.deepEqual(
    batches.map(({ clock, records }) => [clock, records[0]?.time]),
    [['device', 77n]],
  )
})

test('where no file can be made, /metrics says that the sink is not up', async (t) => {
  const taken = join(temporaryFolder(t), 'taken')
  writeFileSync(taken, 'no folder')
  const { address } = await serveAgent(t, { export: { files: { data_root: taken } } })
  const metrics = async () => (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  await until('it is told', async () => /^sonde_sink_up\{sink="files"\} 0/m.test(await metrics()))
  const told = await metrics()
  assert.match(told, /^sonde_sink_records_in_total\{sink="prometheus"\} \d/m)
  assert.doesNotMatch(told, /^sonde_sink_up\{sink="prometheus"\}/m, 'one that does not say is not said to fail')
})

const job = defineType('job', 'A job', { time: timestamp(), note: chars(200) })

function oneJob(): Buffer {
  let bytes = Buffer.alloc(0)
  const emit = (batch: Batch) => {
    bytes = Buffer.from(batch.bytes)
  }
  const source = createSource({ id: 'a', emit })
  source.report(job, { time: wallNs(), note: 'x'.repeat(199) })
  source.flush()
  return bytes
}

test('a destination that hangs delays no client and no other destination, and drops what it has no room for', async (t) => {
  const [hanging, well] = [await HttpPeer.start(t), await HttpPeer.start(t)]
  await hanging.behave('hangs')
  const home = temporaryFolder(t)
  const small = { queue_limit_bytes: 65_536, batch_bytes_max: 4096, linger_ms: 0, close_timeout_ms: 0 }
  const { agent, address } = await serveAgent(t, {
    service: { enabled: true, sockets_dir: join(home, 'sockets') },
    export: {
      jsonl: [
        { name: 'hanging', url: hanging.url, ...small },
        { name: 'well', url: well.url, sources: ['raw'] },
      ],
      files: { data_root: join(home, 'data'), field_set: ['[job]', '^note$'], tags: ['t'] },
    },
  })
  await agent.service?.settled
  const client = await RawClient.enter(join(home, 'sockets'))
  t.after(() => client.close())
  client.announce(job)
  const pages = 500
  for (let sequence = 1; sequence <= pages; sequence++) client.page(sequence, 1, oneJob())
  await client.heard('ack', ({ sequence }) => sequence === BigInt(pages))
  const linesOf = ({ bodies }: HttpPeer) => bodies.join('').split('\n').length - 1
  await until('the other destination has all of it', () => linesOf(well) === pages)
  const metrics = async () => (await fetch(`${address}/metrics`, { headers: { connection: 'close' } })).text()
  const dropped = /^sonde_loss_records_total\{component="hanging",reason="queue_full"[^}]*\} 0*[1-9]/m
  await until('its drops are told by its name', async () => dropped.test(await metrics()))
  // Sinks tell of themselves once a second.
  const given = /^sonde_sink_records_in_total\{sink="well"\} 0*500$/m
  await until('what the other one was given is told', async () => given.test(await metrics()))
  await agent.close()
  const kept = readFiles(join(home, 'data')).flatMap(({ batches }) => batches.filter(({ type }) => type.name === 'job'))
  assert.equal(kept.flatMap(({ records }) => records).length, pages)
})

test('a full queue with the policy block keeps its clients waiting, drops records of hardware, and slows no neighbour', async (t) => {
  const full = await HttpPeer.start(t)
  await full.behave('fails')
  const home = temporaryFolder(t)
  const small = { queue_limit_bytes: 65_536, batch_bytes_max: 4096, linger_ms: 0, close_timeout_ms: 0 }
  const patience = { backoff_initial_ms: 5, backoff_max_ms: 10 }
  const queue = { queue_dir: join(home, 'queue'), queue_policy: 'block' }
  let devices = 200
  const { agent } = await serveAgent(t, {
    devices: () => devices,
    service: { enabled: true, sockets_dir: join(home, 'sockets') },
    export: { jsonl: { name: 'full', url: full.url, sources: ['steady', 'patient'], ...queue, ...small, ...patience } },
  })
  await agent.service?.settled
  const clients = await Promise.all(
    ['patient', 'neighbour', 'gone'].map(async (id) => {
      const client = await RawClient.enter(join(home, 'sockets'))
      t.after(() => client.close())
      client.announce(job, [], id === 'gone' ? 'patient' : id)
      return client
    }),
  )
  const [patient, neighbour, gone] = clients as [RawClient, RawClient, RawClient]
  const sink = agent.router.sinks.find(({ name }) => name === 'full')
  const lost = () => sink?.stats.dropped.get('queue_full') ?? 0
  await until('the source of hardware fills the queue, and loses records', () => lost() > 0)
  // With more records of hardware, a slow machine would never have room for those of the client.
  devices = 0
  const pages = 500
  for (const client of [patient, neighbour])
    for (let sequence = 1; sequence <= pages; sequence++) client.page(sequence, 1, oneJob())
  gone.page(1, 1, oneJob())
  await neighbour.heard('ack', ({ sequence }) => sequence === BigInt(pages))
  const { service } = agent
  const stats = () => service?.stats.pages ?? 0
  assert.equal(stats(), pages, 'only the pages of the neighbour are taken')
  const again = await RawClient.enter(join(home, 'sockets'), gone.identity)
  await until('the connection before it ends while it waits', () => gone.isClosed)
  again.close()
  await full.behave('takes')
  await patient.heard('ack', ({ sequence }) => sequence === BigInt(pages))
  await until('the queue is empty', () => full.bodies.join('').split('"note"').length - 1 === pages)
  const losses = patient.frames.flatMap(({ kind, body }) => (kind === 'ack' ? [body.dropped] : []))
  assert.deepEqual(
    losses.filter((dropped) => Object.keys(dropped).length > 0),
    [],
  )
})
