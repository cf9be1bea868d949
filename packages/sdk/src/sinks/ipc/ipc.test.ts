import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { anyRecord, anyType } from '../../../test/any-type.ts'
import { property, recordingSource, sondeError, until } from '../../../test/helper.ts'
import { IpcRig, range, serialsOf, slotFiles, temporarySockets, wideType } from '../../../test/ipc-rig.ts'
import { BatchSource, newestOf, portType } from '../../../test/sink-records.ts'
import { createSource, defineType, label, lossType, readRecords, value, viewsOf } from '../../index.ts'
import { defineOwnType } from '../../schema/record-type.ts'
import { LOSS_REASONS } from '../../schema/symbols.ts'
import type { ServiceFrame } from '../../wire/ipc/frame.ts'
import { createIpc } from './ipc.ts'
import { CLIENT_VERSION } from './session.ts'
import { noteName } from './sockets-dir.ts'

test('pages lie in shared memory whose file has no name any more, and what fits no slot, or is short, goes through the socket', async (t) => {
  const rig = await IpcRig.start(t, { slots: 2, slotBytes: 8192 })
  await until('shared memory', () => rig.sink.status().mode === 'shared')
  assert.deepEqual(slotFiles(), [])
  for (const count of [80, 200, 10]) {
    rig.report(count)
    await rig.sink.flush()
  }
  assert.deepEqual(
    rig.peer.pages.map(({ isShared, count }) => [isShared, count]),
    [
      [true, 80],
      [false, 200],
      [false, 10],
    ],
  )
  assert.deepEqual(rig.taken, range(290))
})

test('pages for which no slot is free wait for one, in order', async (t) => {
  const rig = await IpcRig.start(t, { slots: 2 })
  await until('shared memory', () => rig.sink.status().mode === 'shared')
  for (let page = 0; page < 20; page++) rig.report(600)
  await rig.sink.flush()
  assert.equal(rig.peer.pages.length, 20)
  assert.ok(rig.peer.pages.every(({ isShared }) => isShared))
  for (let page = 0; page < 5; page++) {
    rig.report(600)
    await rig.sink.flush()
    assert.equal(rig.peer.pages.at(-1)?.isShared, true, 'slots of acknowledged pages are free again')
  }
  assert.deepEqual(rig.taken, range(15_000))
})

test('says why there is no shared memory', async (t) => {
  const refused = await IpcRig.start(t, { peer: { attaches: false } })
  const without = await IpcRig.start(t, { slots: 0 })
  const elsewhere = await IpcRig.start(t, { sharedDir: '/proc' })
  for (const [rig, reason] of [
    [refused, /the peer has no shared memory/],
    [without, /slots is 0/],
    [
      elsewhere,
      /\/proc is not on tmpfs; .* unless \/dev\/shm or the folder of the socket is a tmpfs that both sides see/,
    ],
  ] as const) {
    rig.report(3)
    await rig.sink.flush()
    assert.match(rig.sink.status().inlineReason, reason)
    assert.deepEqual(rig.taken, range(3))
  }
  assert.deepEqual(slotFiles(), [])
})

test('a batch longer than a page may be is split between records', async (t) => {
  const rig = await IpcRig.start(t)
  const records = Array.from({ length: 40_000 }, (_, serial) => ({ serial }))
  const type = defineType('wide_serial', 'Longer than a page', { serial: value('u64'), ...fillers(11) })
  rig.sink.accept(new BatchSource().batch(type, records.map((record) => ({ ...zeros(11), ...record })) as never))
  await rig.sink.flush()
  assert.ok(rig.peer.pages.length > 3 && rig.peer.pages.every(({ bytes }) => bytes.length <= 1 << 20))
  assert.deepEqual(serialsOf(rig.peer.pages), range(40_000))
})

test('tells types, sources and symbols once a connection, before they are used', async (t) => {
  const rig = await IpcRig.start(t, { schema: 'jobs', program: 'trainer' })
  const source = new BatchSource({ id: 'gpu0', tag: 'batch', labels: { node: 'n1' }, intervalMs: 100 })
  const report = async (ports: Readonly<Record<string, number>>) => {
    rig.sink.accept(source.ports(ports))
    await rig.sink.flush()
  }
  await report({ a: 1, b: 2 })
  await report({ a: 3, c: 4 })
  const said = () => rig.peer.said.filter(({ kind }) => kind !== 'attach' && kind !== 'proof')
  const kinds = () => said().map(({ kind }) => kind)
  assert.deepEqual(kinds(), ['hello', 'types', 'source', 'symbols', 'symbols'])
  const [hello, , told, first, second] = said()
  assert.ok(hello?.kind === 'hello' && hello.body.pid === process.pid && hello.body.program === 'trainer')
  const expected = { index: 0, id: 'gpu0', tag: 'batch', labels: { node: 'n1' }, schema: 'jobs' }
  assert.deepEqual(told?.body, expected)
  assert.deepEqual(first?.body, { source: 0, firstId: 0, texts: ['', '…', 'gpu0', ...LOSS_REASONS, 'a', 'b'] })
  assert.deepEqual(second?.body, { source: 0, firstId: 10, texts: ['c'] })
  rig.peer.said.length = 0
  rig.peer.hangUp()
  await report({ a: 5 })
  assert.deepEqual(kinds(), ['hello', 'types', 'source', 'symbols'])
})

test('what is stored already is not sent again, and the rest comes in order', async (t) => {
  let stored = 0n
  const acknowledges = () => stored > 0n
  const rig = await IpcRig.start(t, { peer: { lastSequence: () => stored, acknowledges } })
  for (let page = 0; page < 6; page++) rig.report(10)
  await until('all pages', () => rig.taken.length === 60)
  rig.peer.pages.length = 0
  stored = 4n
  rig.peer.hangUp()
  await rig.sink.flush()
  assert.deepEqual([rig.taken, rig.peer.duplicates], [range(60).slice(40), 0])
  assert.deepEqual([rig.sink.stats.out, rig.sink.status().ackedSequence], [60, 6])
})

test('what the service dropped of pages that it had when the connection ended is lost, not arrived', async (t) => {
  let stored = 0n
  const acknowledges = () => stored > 0n
  const droppedBefore = () => (stored > 0n ? { not_stored: 7 } : {})
  const rig = await IpcRig.start(t, { peer: { lastSequence: () => stored, acknowledges, droppedBefore } })
  for (let page = 0; page < 3; page++) rig.report(10)
  await until('all pages', () => rig.taken.length === 30)
  stored = 2n
  rig.peer.hangUp()
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST', /dropped 7 records/))
  assert.deepEqual([rig.sink.stats.out, rig.sink.status().dropped], [23, { not_stored: 7 }])
})

test('an acknowledgement may come on the next connection', async (t) => {
  let isAgain = false
  const ack: ServiceFrame = { kind: 'ack', body: { sequence: 3n, dropped: { rejected: 4 }, hidden: {} } }
  const options = { lastSequence: () => 0n, acknowledges: () => false, afterWelcome: () => (isAgain ? ack : undefined) }
  const rig = await IpcRig.start(t, { peer: options })
  for (let page = 0; page < 3; page++) rig.report(10)
  await until('all pages', () => rig.taken.length === 30)
  isAgain = true
  rig.peer.hangUp()
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST', /^ipc dropped 4 records \(4 rejected\)$/))
  assert.deepEqual([rig.sink.stats.out, rig.sink.status().dropped], [26, { rejected: 4 }])
})

test('tables of symbols of any size are told in pieces', async (t) => {
  const rig = await IpcRig.start(t)
  const source = new BatchSource()
  const devices = Object.fromEntries(range(30_000).map((i) => [`device ${i}`, i]))
  rig.sink.accept(source.ports(devices))
  await rig.sink.flush()
  const told = rig.peer.said.flatMap((frame) => (frame.kind === 'symbols' ? [frame.body.texts.length] : []))
  assert.ok(told.length > 10 && told.every((count) => count <= 2000))
  assert.deepEqual(newestOf(rig.peer.pages, portType, 'rx_bytes_total').get('device 29999'), 29_999n)
})

property('records of any type arrive as they were reported', 20, async (random) => {
  const cleanUps: (() => unknown)[] = []
  const t = { after: (run: () => unknown) => cleanUps.push(run) } as unknown as TestContext
  try {
    const rig = await IpcRig.start(t, { peer: { attaches: random.chance(0.5) } })
    const type = anyType(random)
    const { source, emitted } = recordingSource({ bufferBytes: 200_000 })
    const records = Array.from({ length: random.integer(1, 200) }, () => anyRecord(random, type, Date.now()))
    source.report(type, records)
    source.flush()
    for (const batch of emitted) rig.sink.accept(batch)
    await rig.sink.flush()
    const arrived = rig.peer.pages.flatMap((page) => [
      ...readRecords(page.type, viewsOf(page.bytes), page.count, page.symbols),
    ])
    assert.deepEqual(
      arrived,
      emitted.flatMap((batch) => batch.records),
    )
  } finally {
    for (const run of cleanUps.reverse()) await run()
  }
})

test('a full spool drops the oldest pages, and the service is told as soon as it is there', async (t) => {
  const rig = await IpcRig.start(t, { isAway: true, spoolBytes: 256 << 10 })
  for (let page = 0; page < 10; page++) rig.report(500)
  const { spool_full: dropped = 0 } = rig.sink.status().dropped
  assert.ok(dropped > 0 && dropped % 500 === 0 && rig.sink.status().spooledBytes <= 256 << 10)
  await rig.peer.listen()
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST', /dropped \d+ records/))
  assert.deepEqual(rig.taken, range(5000).slice(dropped))
  const told = await until('a record of the loss', () => rig.peer.pages.find(({ type }) => type.name === lossType.name))
  const [loss] = [...readRecords(lossType, viewsOf(told.bytes), told.count, told.symbols)]
  assert.deepEqual([loss?.component, loss?.reason, loss?.records_total], ['ipc', 'spool_full', BigInt(dropped)])
  assert.equal(rig.sink.stats.in, 5000, 'what it says of itself is in no account')
})

test('a service that is not there costs few tries, however much is reported', async (t) => {
  const rig = await IpcRig.start(t, { isAway: true, reconnectTimeMs: 60, socketTimeoutMs: 100 })
  const startMs = performance.now()
  while (performance.now() - startMs < 400) {
    for (let page = 0; page < 100; page++) rig.report(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { errors } = rig.sink.stats
  const phases = Math.ceil((performance.now() - startMs) / 60) + 1
  assert.ok(errors >= 3 && errors <= phases * 3, `${errors} tries`)
  assert.equal(rig.sink.status().code, -1)
})

test('a service that comes back is found by the next report, and without one', async (t) => {
  const rig = await IpcRig.start(t, { isAway: true })
  rig.report(1)
  await until('it is given up', () => rig.sink.stats.errors >= 3)
  await rig.peer.listen()
  await until('everything is acknowledged without a report', () => rig.sink.queuedRecords === 0)
  await rig.peer.leave()
  await until('the loss of the connection is seen', () => rig.sink.status().code === -1)
  await rig.peer.listen()
  await until('the next report arrives', () => {
    rig.report(1)
    return rig.sink.status().code === 0
  })
  await rig.sink.flush()
  assert.deepEqual(rig.taken, range(rig.serial))
})

test('a flush ends where nobody answers, and what was flushed is kept', async (t) => {
  const rig = await IpcRig.start(t, { isAway: true, socketTimeoutMs: 150 })
  rig.report(5)
  await assert.rejects(rig.sink.flush(), sondeError('IPC_TIMEOUT', /5 records .* no service answers in/))
  assert.equal(rig.sink.queuedRecords, 5)
  await rig.peer.listen()
  await until('it arrives', () => rig.taken.length === 5)
})

test('what the service takes no more of is dropped alone', async (t) => {
  const rig = await IpcRig.start(t, { peer: { limits: { types: 2, sources: 3, symbols: 6, pageBytes: 4096 } } })
  const other = defineType('other', 'A second type', { serial: value('u64') })
  const source = new BatchSource()
  rig.report(10)
  rig.report(500)
  rig.sink.accept(source.batch(other, [{ serial: 1 }]))
  rig.sink.accept(new BatchSource({ id: 'fits' }).batch(wideType, [zeros(11)] as never))
  rig.sink.accept(new BatchSource({ id: 'third' }).batch(wideType, [zeros(11)] as never))
  rig.report(10)
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST'))
  assert.deepEqual(rig.sink.status().dropped, { too_large: 500, type_limit: 1, source_limit: 1 })
  assert.deepEqual(rig.taken, [...range(10), 0, ...range(520).slice(510)])
})

test('what was lost is told with its reasons and their causes', async (t) => {
  const ack: ServiceFrame = { kind: 'ack', body: { sequence: 1n, dropped: { not_stored: 1 }, hidden: {} } }
  const rig = await IpcRig.start(t, { peer: { acknowledges: () => false } })
  rig.report(1)
  await until('it arrives', () => rig.taken.length === 1)
  for (const connection of rig.peer.connections) connection.send(ack)
  await assert.rejects(
    rig.sink.flush(),
    sondeError('IPC_LOST', /^ipc dropped 1 record \(1 not_stored: a durable sink of the service .* say why\)$/),
  )
})

test('records that the service keeps and does not show are told apart from lost records', async (t) => {
  const rig = await IpcRig.start(t, { peer: { hidden: { series_limit: 10 } } })
  rig.report(10)
  await assert.rejects(rig.sink.flush(), {
    code: 'IPC_HIDDEN',
    message: /^ipc does not show 10 records \(10 series_limit: .* History has them\)$/,
    lost: 0,
    hidden: 10,
    pending: 0,
  })
  assert.deepEqual(rig.sink.status().hidden, { series_limit: 10 })
  await rig.sink.flush()
})

test('a record that is both lost and hidden counts as lost', async (t) => {
  const ack: ServiceFrame = {
    kind: 'ack',
    body: { sequence: 1n, dropped: { not_stored: 8 }, hidden: { series_limit: 10 } },
  }
  const rig = await IpcRig.start(t, { peer: { acknowledges: () => false } })
  rig.report(10)
  await until('it arrives', () => rig.taken.length === 10)
  for (const connection of rig.peer.connections) connection.send(ack)
  await assert.rejects(rig.sink.flush(), { code: 'IPC_LOST', lost: 8, hidden: 2, pending: 0 })
})

test('a flush in vain, and the end, name what was dropped before too; a warning comes when dropping begins, and again once all was well', async (t) => {
  const warnings: string[] = []
  const note = (warning: Error & { code?: string }) => {
    if (warning.code === 'IPC_LOST') warnings.push(warning.message)
  }
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const options = { isAway: true, spoolBytes: 256 << 10, socketTimeoutMs: 100, schema: 'away' }
  const rig = await IpcRig.start(t, options)
  for (let page = 0; page < 10; page++) {
    rig.report(500)
    // The loop turns: it is the service that is missing.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { spool_full: dropped } = rig.sink.status().dropped
  await assert.rejects(
    rig.sink.flush(),
    sondeError(
      'IPC_LOST',
      new RegExp(
        `^ipc dropped ${dropped} records .*spool_full: the service was away.*; ${5000 - Number(dropped)} records are `,
      ),
    ),
  )
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /^ipc of schema away drops records as spool_full: the service was away/)
  await rig.peer.listen()
  await until('all is acknowledged', () => rig.sink.queuedRecords === 0)
  await rig.peer.leave()
  for (let page = 0; page < 10; page++) rig.report(500)
  await until('a second warning', () => warnings.length === 2)
})

test('a source that no service would take is dropped alone', async (t) => {
  const rig = await IpcRig.start(t)
  const batch = new BatchSource().ports({ a: 1 })
  rig.sink.accept({ ...batch, source: { ...batch.source, tag: 'x'.repeat(5000) } })
  rig.report(2)
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST'))
  assert.deepEqual([rig.sink.status().dropped, rig.taken], [{ not_announced: 1 }, range(2)])
})

test('a type or a source that says it is simulated is not announced, and the status says why', async (t) => {
  const rig = await IpcRig.start(t)
  const type = defineOwnType('posing', 'Poses', { simulated: label(), heat: value('u8') })
  const posing = createSource({ id: 'a', emit: (batch) => rig.sink.accept(batch) })
  posing.report(type, { simulated: 'true', heat: 1 })
  void posing.flush()
  rig.report(2)
  await assert.rejects(
    rig.sink.flush(),
    sondeError('IPC_LOST', /\(1 not_announced: .*the label simulated is Sonde's own/),
  )
  assert.match(rig.sink.status().notAnnouncedReason, /posing\.simulated: the label simulated is Sonde's own/)
  rig.sink.accept(new BatchSource({ labels: { simulated: 'true' } }).ports({ a: 1 }))
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST'))
  assert.match(rig.sink.status().notAnnouncedReason, /source .*: the label simulated is Sonde's own/)
  assert.deepEqual([rig.sink.status().dropped, rig.taken], [{ not_announced: 2 }, range(2)])
})

test('closes with a goodbye, is not connected then, and calls no error that it hung up', async (t) => {
  const rig = await IpcRig.start(t)
  rig.report(3)
  await rig.sink.close()
  assert.equal(rig.peer.said.at(-1)?.kind, 'bye')
  const { code, lastError } = rig.sink.status()
  assert.deepEqual([rig.taken, code, lastError], [range(3), -1, undefined])
})

test('closes within its limit also where the service is alive and acknowledges nothing, as one whose disk is full', async (t) => {
  const rig = await IpcRig.start(t, { socketTimeoutMs: 300, peer: { acknowledges: () => false } })
  rig.report(3)
  await until('it arrives', () => rig.taken.length === 3)
  const [connection] = rig.peer.connections
  const alive = setInterval(
    () => connection?.send({ kind: 'ack', body: { sequence: 0n, dropped: {}, hidden: {} } }),
    20,
  )
  t.after(() => clearInterval(alive))
  const flushed = assert.rejects(rig.sink.flush(), sondeError('IPC_TIMEOUT', /3 records are not acknowledged/))
  await rig.sink.close()
  await flushed
  assert.deepEqual([rig.peer.greetings, rig.sink.status().dropped], [1, { closed: 3 }])
})

test('names both directories where a service listens in another one', async (t) => {
  const [here, usual] = [temporarySockets(t), temporarySockets(t)]
  const rig = await IpcRig.start(t)
  const { socketsDir } = rig.peer.options
  const note = join(usual, 'sonde', noteName(socketsDir))
  const { XDG_RUNTIME_DIR, TMPDIR } = process.env
  t.after(() => {
    for (const [name, value] of Object.entries({ XDG_RUNTIME_DIR, TMPDIR })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  // Of the temporary files too: agents of other tests leave their notes there.
  Object.assign(process.env, { XDG_RUNTIME_DIR: usual, TMPDIR: usual })
  const messageOf = async () => {
    const sink = createIpc({ socketsDir: here, socketTimeoutMs: 50 })
    t.after(() => sink.close())
    return (await until('an error', () => sink.status().lastError)).message
  }
  assert.match(await messageOf(), new RegExp(`no service answers in ${here}; start one`))
  mkdirSync(join(usual, 'sonde'))
  writeFileSync(note, 'no note')
  assert.match(await messageOf(), /start one/)
  writeFileSync(note, JSON.stringify({ socketsDir, pid: 2 ** 22 + 1 }))
  assert.match(await messageOf(), /start one/, 'a process that is gone says nothing')
  const { pid } = process
  writeFileSync(note, JSON.stringify({ socketsDir, pid }))
  assert.match(await messageOf(), new RegExp(`in ${here}; process ${pid} listens in ${socketsDir}: set socketsDir`))
  const second = (await IpcRig.start(t)).peer.options.socketsDir
  writeFileSync(join(usual, 'sonde', noteName(second)), JSON.stringify({ socketsDir: second, pid }))
  const message = await messageOf()
  for (const each of [socketsDir, second]) assert.ok(message.includes(`process ${pid} listens in ${each}`), message)
})

test('uses no directory in which anybody could pose as the service', async (t) => {
  const socketsDir = temporarySockets(t)
  chmodSync(socketsDir, 0o777)
  const rig = await IpcRig.start(t, { socketsDir, socketTimeoutMs: 50 })
  rig.report(1)
  await assert.rejects(rig.sink.flush(), sondeError('IPC_TIMEOUT', /may be written by everybody/))
  assert.deepEqual([rig.sink.status().lastError?.code, rig.peer.greetings], ['IPC_DIRECTORY', 0])
})

test('refuses options that cannot be, and names them', () => {
  const cases = [
    [{ reconnectTries: 0 }, /reconnectTries of the sink ipc is 0; allowed: a whole number from 1 to 255/],
    [{ spoolBytes: 1 }, /spoolBytes/],
    [{ socketTimeoutMs: 0.5 }, /socketTimeoutMs/],
    [{ socketsDir: 'sockets' }, /absolute path/],
    [{ socketsDir: `/${'x'.repeat(100)}` }, /at most 96 bytes/],
    [{ schema: 7 as never }, /schema of the sink ipc is 7/],
  ] as const
  for (const [options, part] of cases) assert.throws(() => createIpc(options), sondeError('IPC_OPTION', part))
})

test('says which version it is', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  assert.equal(CLIENT_VERSION, version)
})

const zeros = (count: number) => ({ serial: 0, ...Object.fromEntries(range(count).map((i) => [`filler${i}`, 0])) })
const fillers = (count: number) => Object.fromEntries(range(count).map((i) => [`filler${i}`, value('u64')]))
