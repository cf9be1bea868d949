import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fuzzedStream } from '../../../test/fuzz-frames.ts'
import { property, sondeError, until } from '../../../test/helper.ts'
import { IpcProxy } from '../../../test/ipc-proxy.ts'
import { IpcRig, range, slotFiles, temporarySockets } from '../../../test/ipc-rig.ts'
import { Random, SEED } from '../../../test/random.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { SondeError } from '../../index.ts'
import { droppedTotal } from '../../internal/index.ts'
import { encodeFrame } from '../../wire/ipc/encode.ts'
import type { ServiceFrame } from '../../wire/ipc/frame.ts'
import { createIpc } from './ipc.ts'
import { SOCKET_NAME } from './sockets-dir.ts'

const CHILD = fileURLToPath(new URL('../../../test/ipc-child-main.ts', import.meta.url))
const NODE = ['--conditions=source', '--disable-warning=ExperimentalWarning', CHILD]

function startChild(t: TestContext, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [...NODE, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  return child
}

async function startPeer(t: TestContext, socketsDir: string, store: string): Promise<ChildProcess> {
  const child = startChild(t, 'peer', socketsDir, store)
  if (child.stdout !== null) await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Numbers that a child has stored, in order. */
function stored(store: string): number[] {
  if (!existsSync(store)) return []
  return readFileSync(store, 'utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => line.split(' ').slice(2).map(Number))
}

test('a service that is killed again and again has all that was acknowledged, and nothing twice', async (t) => {
  const random = new Random(SEED)
  const socketsDir = temporarySockets(t)
  const store = join(socketsDir, 'store')
  const rig = await IpcRig.start(t, { socketsDir, isAway: true, spoolBytes: 128 << 20, socketTimeoutMs: 10_000 })
  let acknowledged = 0
  let spooledMax = 0
  const report = setInterval(() => {
    const { serial } = rig
    rig.report(random.integer(1, 300))
    spooledMax = Math.max(spooledMax, rig.sink.status().spooledBytes)
    void rig.sink.flush().then(() => {
      acknowledged = Math.max(acknowledged, serial)
    })
  }, 2)
  t.after(() => clearInterval(report))
  for (let round = 0; round < 8; round++) {
    const peer = await startPeer(t, socketsDir, store)
    await until('a connection', () => rig.sink.status().code === 0)
    await new Promise((resolve) => setTimeout(resolve, random.integer(0, 120)))
    await kill(peer)
    const [known, found] = [acknowledged, stored(store)]
    assert.ok(known <= found.length, `${known} acknowledged, ${found.length} stored`)
    assert.deepEqual(found, range(found.length), 'in order, none missing, none twice')
  }
  clearInterval(report)
  await startPeer(t, socketsDir, store)
  await rig.sink.flush()
  assert.deepEqual(stored(store), range(rig.serial))
  assert.deepEqual([rig.sink.stats.out, rig.sink.status().dropped], [rig.serial, {}])
  assert.ok(spooledMax <= 128 << 20)
  await rig.sink.close()
})

test('connections that are cut amid anything lose nothing, and bring nothing twice', async (t) => {
  const random = new Random(SEED)
  const near = temporarySockets(t)
  const rig = await IpcRig.start(t, {
    peer: { socketsDir: temporarySockets(t), attaches: random.chance(0.5) },
    socketsDir: near,
    reconnectTimeMs: 10,
  })
  let cuts = 60
  const proxy = new IpcProxy(rig.peer.options.socketsDir, () =>
    cuts-- > 0 ? { cutAfterBytes: random.integer(1, 40_000) } : {},
  )
  await proxy.listen(near)
  t.after(() => proxy.close())
  await until('all cuts', () => {
    rig.report(random.integer(1, 200))
    return cuts <= 0
  })
  await rig.sink.flush()
  assert.deepEqual(rig.taken, range(rig.serial))
  assert.ok(proxy.connections >= 60)
})

test('a slow service gets everything, and the application keeps no more than the spool', async (t) => {
  const near = temporarySockets(t)
  const rig = await IpcRig.start(t, {
    peer: { socketsDir: temporarySockets(t), attaches: false },
    socketsDir: near,
    spoolBytes: 16 << 20,
  })
  let bytesEach5Ms = 10_000
  const proxy = new IpcProxy(rig.peer.options.socketsDir, () => ({ bytesEach5Ms }))
  await proxy.listen(near)
  t.after(() => proxy.close())
  await until('a connection', () => {
    rig.report(1)
    return rig.sink.status().code === 0
  })
  const before = process.memoryUsage().arrayBuffers
  for (let page = 0; page < 150; page++) {
    rig.report(600)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { spooledBytes } = rig.sink.status()
  assert.ok(spooledBytes > 4 << 20 && spooledBytes <= 16 << 20, `${spooledBytes} bytes`)
  assert.ok(process.memoryUsage().arrayBuffers - before < 24 << 20, 'nothing piles up beside the spool')
  bytesEach5Ms = 1 << 20
  rig.peer.hangUp()
  await rig.sink.flush()
  assert.deepEqual(rig.taken, range(rig.serial))
})

test('pages that are dropped while the socket still has them arrive as what they were, or not at all', async (t) => {
  const near = temporarySockets(t)
  const peer = { socketsDir: temporarySockets(t), attaches: false }
  const rig = await IpcRig.start(t, { peer, socketsDir: near, spoolBytes: 256 << 10 })
  const proxy = new IpcProxy(peer.socketsDir, () => ({ bytesEach5Ms: 100_000 }))
  await proxy.listen(near)
  t.after(() => proxy.close())
  await until('several pages that arrived late', () => {
    for (let page = 0; page < 10; page++) rig.report(600)
    return rig.peer.pages.length >= 30
  })
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST'))
  const { taken } = rig
  assert.ok(
    taken.every((serial, i) => i === 0 || serial > (taken[i - 1] ?? 0)),
    'in order, none twice',
  )
  assert.ok(taken.length >= rig.serial - droppedTotal(rig.sink.stats))
})

const limits = { pageBytes: 1 << 20, types: 1, sources: 1, symbols: 1, clientBytes: 1 << 20 }
const welcome: ServiceFrame = {
  kind: 'welcome',
  body: {
    protocol: 3,
    client: 1n,
    secret: '5e'.repeat(32),
    lastSequence: 0n,
    dropped: {},
    hidden: {},
    ack: 'memory',
    limits,
  },
}

const challenge: ServiceFrame = { kind: 'challenge', body: { nonce: 'ab'.repeat(32) } }
const attached: ServiceFrame = { kind: 'attached', body: { ok: true, reason: '' } }

/** A service that answers the first chunk of each connection with these bytes. */
async function answerWith(t: TestContext, socketsDir: string, answer: () => Buffer): Promise<() => Promise<void>> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(answer()))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(join(socketsDir, SOCKET_NAME), resolve))
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  t.after(close)
  return close
}

test('a service that makes no sense is hung up on, and the message says what it sent', async (t) => {
  const cases: readonly (readonly [readonly ServiceFrame[], string, RegExp])[] = [
    [[welcome, welcome], 'IPC_FRAME', /welcome twice/],
    [[{ kind: 'ack', body: { sequence: 1n, dropped: {}, hidden: {} } }], 'IPC_FRAME', /ack before welcome/],
    [
      [welcome, { kind: 'ack', body: { sequence: 9n, dropped: {}, hidden: {} } }],
      'IPC_FRAME',
      /acknowledgement of page 9/,
    ],
    [[{ ...welcome, body: { ...welcome.body, lastSequence: 7n } }], 'IPC_FRAME', /page 7 of this client/],
    [[{ ...welcome, body: { ...welcome.body, protocol: 1 } }], 'IPC_REFUSED', /protocol 1, this client 3/],
    [[{ kind: 'error', body: { code: 'SRV', message: 'full' } }], 'IPC_REFUSED', /gave up with SRV: full/],
    [[welcome, challenge, challenge], 'IPC_FRAME', /challenge for no file/],
    [[welcome, attached, attached], 'IPC_FRAME', /attached for no file/],
    [[], 'IPC_CONNECTION', /hung up/],
  ]
  for (const [frames, code, part] of cases) {
    const socketsDir = temporarySockets(t)
    const close = await answerWith(t, socketsDir, () =>
      Buffer.concat(frames.map((frame, i) => encodeFrame(frame, i + 1))),
    )
    const sink = createIpc({ socketsDir, socketTimeoutMs: 20_000 })
    t.after(() => sink.close())
    const error = await until('an error', () => sink.status().lastError)
    assert.deepEqual([error.code, part.test(error.message)], [code, true], error.message)
    await sink.close()
    await close()
  }
})

property('whatever a service answers, the client goes on, and gives its records to the next one', 5, async (random) => {
  const cleanUps: (() => unknown)[] = []
  const t = { after: (run: () => unknown) => cleanUps.push(run) } as unknown as TestContext
  try {
    const rig = await IpcRig.start(t, { isAway: true, reconnectTimeMs: 3, socketTimeoutMs: 1000 })
    let answers = 0
    const close = await answerWith(t, rig.peer.options.socketsDir, () => {
      answers++
      return random.chance(0.5) ? fuzzedStream(random) : Buffer.concat([encodeFrame(welcome, 1), fuzzedStream(random)])
    })
    await until('forty answers', () => {
      rig.report(3)
      return answers >= 40
    })
    await close()
    await rig.peer.listen()
    // The announced limits may have been correct.
    await rig.sink
      .flush()
      .catch((error: unknown) => assert.ok(error instanceof SondeError && error.code === 'IPC_LOST'))
    const { taken } = rig
    assert.equal(taken.length, rig.serial - droppedTotal(rig.sink.stats))
    assert.ok(
      taken.every((serial, i) => i === 0 || serial > (taken[i - 1] ?? 0)),
      'in order, none twice',
    )
  } finally {
    for (const run of cleanUps.reverse()) await run()
  }
})

test('a process that ends by itself waits for acknowledgements, and one that exits hands over what it can', async (t) => {
  for (const how of ['end', 'exit']) {
    const rig = await IpcRig.start(t)
    const child = startChild(t, 'report', rig.peer.options.socketsDir, how)
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
    await until('all records', () => rig.taken.length === 5000)
    assert.deepEqual(rig.taken, range(5000))
  }
})

/** Runs a program to its end, for 10 s at most. */
async function runProgram(t: TestContext, program: string, ...given: string[]) {
  const flags = [...NODE.slice(0, -1), '--input-type=module', '--eval', program]
  const child = spawn(process.execPath, [...flags, ...given], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'pipe'],
    timeout: 10_000,
    killSignal: 'SIGKILL',
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, said }
}

/** A program that reports 10 000 records to a service, and then does what its second argument says. */
const PROGRAM = `
import { createSchema, defineType, timestamp, value, wallNs } from '@sonde/sdk'
const [socketsDir, ending] = process.argv.slice(1)
const schema = createSchema({ name: 'ends', ipc: { socketsDir, socketTimeoutMs: 200 } })
const n = schema.addType(defineType('n', '', { time: timestamp(), n: value('u32') }))
await schema.start()
const source = schema.createSource({ id: 'me', tag: 'end' })
for (let i = 0; i < 10_000; i++) source.report(n, { time: wallNs(), n: i })
if (ending === 'close') await schema.close()
if (ending !== 'end') process.exit(0)
`

for (const [ending, isServed, wanted] of [
  ['exit', true, /^\(node:\d+\) \[TEL_LOST\] Warning: 10000 records are not acknowledged.*await schema.close\(\).*\n$/],
  ['close', true, /^$/],
  ['end', true, /^$/],
  ['end', false, /^\(node:\d+\) \[TEL_LOST\] Warning: 10000 records are not acknowledged.*no service answers.*\n$/],
] as const) {
  test(`what is not acknowledged at ${ending} ${isServed ? 'with' : 'without'} a service is told in one line`, async (t) => {
    const socketsDir = isServed ? (await IpcRig.start(t)).peer.options.socketsDir : temporarySockets(t)
    // A service that is slow still answers.
    const program = isServed ? PROGRAM.replace('socketTimeoutMs: 200', 'socketTimeoutMs: 20_000') : PROGRAM
    const { code, said } = await runProgram(t, program, socketsDir, ending)
    assert.equal(code, 0)
    assert.match(said, wanted)
  })
}

test('what was dropped before the end is told at process.exit beside what waits', async (t) => {
  const { said } = await runProgram(
    t,
    PROGRAM.replace('socketTimeoutMs: 200', 'spoolBytes: 100_000'),
    temporarySockets(t),
    'exit',
  )
  assert.match(
    said,
    /\[TEL_LOST\] Warning: \d+ records are not acknowledged.*; ipc dropped \d+ records \(\d+ spool_full: .*\)\n$/,
  )
})

/** A program whose metrics are sampled again and again while it waits for a service at its end. */
const SAMPLED = `
import { createMetrics, createSchema } from '@sonde/sdk'
const [socketsDir] = process.argv.slice(1)
const schema = createSchema({ name: 'sampled', ipc: { socketsDir, socketTimeoutMs: 200 } })
await schema.start()
const counter = createMetrics(schema.createSource({ tag: 'end' }), { flushIntervalMs: 20 }).counter('c_total').bind()
setInterval(() => counter.add(1), 5).unref()
counter.add(5)
`

test('a process without a service ends, however often its metrics are sampled while it waits', async (t) => {
  const { code, said } = await runProgram(t, SAMPLED, temporarySockets(t))
  assert.equal(code, 0)
  assert.match(said, /^\(node:\d+\) \[TEL_LOST\] Warning: .*no service answers.*\n$/)
})

test('a process without a service ends, and leaves nothing behind', async (t) => {
  const child = startChild(t, 'report', temporarySockets(t), 'end')
  const [code] = await once(child, 'exit')
  assert.deepEqual([code, slotFiles('/dev/shm', child.pid)], [0, []])
})

test('what a killed client leaves in shared memory is removed by the next one', async (t) => {
  const rig = await IpcRig.start(t, { peer: { attaches: 'silent' }, slots: 0 })
  const child = startChild(t, 'report', rig.peer.options.socketsDir, 'wait')
  const [name = ''] = await until('its file', () => {
    const names = slotFiles('/dev/shm', child.pid)
    return names.length > 0 && names
  })
  const path = join('/dev/shm', name)
  const sweep = async () => {
    const next = await IpcRig.start(t)
    await until('shared memory', () => next.sink.status().mode === 'shared')
  }
  utimesSync(path, 1, 1)
  await sweep()
  assert.ok(existsSync(path), 'that of a process that lives stays')
  await kill(child)
  utimesSync(path, new Date(), new Date())
  await sweep()
  assert.ok(existsSync(path), 'one that is young stays: its process may be in another container')
  utimesSync(path, 1, 1)
  await sweep()
  assert.ok(!existsSync(path))
})

test('clients that come and go leave no descriptor, listener or file behind', async (t) => {
  const rig = await IpcRig.start(t)
  const { socketsDir } = rig.peer.options
  const comeAndGo = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const sink = createIpc({ socketsDir })
      sink.accept(new BatchSource().ports({ a: i }))
      if (i % 2 === 0) await until('shared memory', () => sink.status().mode === 'shared')
      if (i % 3 === 0) rig.peer.hangUp()
      await sink.close()
    }
    await until('no connection but the own', () => rig.peer.connections.size <= 1)
    return [readdirSync('/proc/self/fd').length, process.listenerCount('exit'), process.listenerCount('beforeExit')]
  }
  const before = await comeAndGo(5)
  const [descriptors = 0, ...listeners] = await comeAndGo(50)
  assert.ok(descriptors <= (before[0] ?? 0) + 2, `${before[0]} descriptors, then ${descriptors}`)
  assert.deepEqual([listeners, slotFiles()], [before.slice(1), []])
})

const NAMESPACE = ['-Urm', 'sh', '-c']
const mayMount = spawnSync('unshare', [...NAMESPACE, 'mount -t tmpfs tmpfs /mnt']).status === 0

test('pages go through the socket once shared memory is full', {
  skip: !mayMount && 'no user namespaces here',
}, async (t) => {
  const directory = join(temporarySockets(t), 'small')
  mkdirSync(directory)
  const script = `mount -t tmpfs -o size=200k tmpfs ${directory} && exec "$0" "$@"`
  const { stdout, stderr } = spawnSync('unshare', [...NAMESPACE, script, process.execPath, ...NODE, 'full', directory])
  const { inlineReason, shared, taken } = JSON.parse(stdout.toString() || `"${stderr}"`)
  assert.match(inlineReason, /ENOSPC|took \d+ bytes/)
  assert.ok(shared > 0, 'the first page found room')
  assert.equal(taken, 5000)
})
