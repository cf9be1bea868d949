import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { PodsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { runSonde, type SondeProcess, startSonde, until } from '../sonde-process.ts'

/** A simulated node with a GPU that a trainer has, and another that MIG splits into three notebooks. */
const NODE = ['--only-simulated', '--simulate-class', 'dpu-host']
const TITLES = 'NAMESPACE POD APP SERVICE GPUS UTIL MEM USED MEM TOTAL TENSOR SM DRAM POWER AGE SAMPLE'

async function startNode(t: TestContext, command: string, more: readonly string[] = []): Promise<SondeProcess> {
  const sonde = await startSonde([command, ...NODE, ...more])
  t.after(() => sonde.stop())
  await until('numbers of the pods', 60_000, async () => (await podsOf(sonde)).state === 'ready')
  return sonde
}

const podsOf = (sonde: SondeProcess) => ask<PodsAnswer>(sonde, '/api/v1/pods')

/** The cells of a line of the table; none of those of the simulated node holds a blank. */
const cellsOf = (line: string) => line.split(/ {2,}/).map((cell) => cell.trim())

test('prints a row a pod with its numbers, a dash where one is not known, and why below', async (t) => {
  const sonde = await startNode(t, 'agent')
  const { code, output } = await runSonde(['ps', '--url', sonde.address])
  assert.equal(code, 0, output)
  const [head = '', ...lines] = output.split('\n')
  assert.equal(head.replace(/ +/g, ' '), TITLES)
  const { pods } = await podsOf(sonde)
  assert.equal(pods.length, 4)
  for (const [i, { namespace, name, app, service, gpus }] of pods.entries()) {
    assert.deepEqual(cellsOf(lines[i] ?? '').slice(0, 5), [namespace, name, app, service, String(gpus)])
  }
  const [notebook, trainer] = [lines[0] ?? '', lines[3] ?? '']
  assert.match(trainer, / \d+\.\d% +\d+\.\dGiB +79\.6GiB +\d+\.\d% +\d+\.\d% +\d+\.\d% +\d+W +\d+d +\ds$/)
  assert.equal(cellsOf(notebook)[5], '-', 'utilisation of an instance')
  assert.match(cellsOf(notebook)[11] ?? '', /^\d+W\*$/, 'power is that of the board')
  assert.match(output, /\nnotebook-0, notebook-1, notebook-2: no utilisation: a MIG instance has none of its own\n/)
  assert.match(output, /\nAll together, each GPU once: 4\sGPUs and instances, \d+W of 1\swhole GPU, .*GiB used\n/)
  assert.match(output, /\nAll of them are simulated\.\n$/)
})

test('an app is asked for by its name; one without GPU pods is told with those that have some', async (t) => {
  const sonde = await startNode(t, 'agent')
  const lab = await runSonde(['ps', '--app', 'lab', '--url', sonde.address])
  assert.equal(lab.code, 0)
  assert.match(lab.output, /notebook-0/)
  assert.ok(!lab.output.includes('trainer-0'))
  const typo = await runSonde(['ps', '--app', 'labb', '--url', sonde.address])
  assert.deepEqual(typo, { code: 0, output: 'sonde: labb has no GPU pod; apps that have: lab, pretrain\n' })
})

test('JSON has every number, those that are not known as null, each of them with one reason', async (t) => {
  const sonde = await startNode(t, 'agent')
  const { code, output } = await runSonde(['ps', '--json', '--url', sonde.address])
  assert.equal(code, 0, output)
  const { pods } = JSON.parse(output) as PodsAnswer
  for (const { values, gaps } of pods) {
    const unknown = Object.entries(values).filter(([, value]) => value === null)
    const told = gaps.flatMap(({ fields }) => fields)
    assert.deepEqual([...told].sort(), unknown.map(([field]) => field).sort())
  }
  assert.deepEqual(
    pods.map(({ gaps }) => gaps.length > 0),
    [true, true, true, false],
  )
})

test('a node without GPUs says what reads them, and how to go on', async (t) => {
  const sonde = await startSonde(['agent'])
  t.after(() => sonde.stop())
  const { code, output } = await runSonde(['ps', '--url', sonde.address])
  assert.equal(code, 0)
  assert.match(output, /^sonde: GPU observability is not enabled\b.*\n(sonde: .*\n)+$/)
})

test('without an agent it says where it looked and what to do, with exit code 1', async () => {
  const port = await freePort()
  const { code, output } = await runSonde(['ps'], { env: { SONDE_EXPORT_PROMETHEUS_PORT: String(port) } })
  assert.equal(code, 1)
  assert.ok(output.includes(`no agent answers at http://127.0.0.1:${port} (ECONNREFUSED); start one with `), output)
  assert.match(output, /^sonde: .*sonde up.* --url\n$/)
})

test('options that are wrong are refused with what is allowed, and exit code 2', async () => {
  for (const [flag, value] of [
    ['--app', 'a b'],
    ['--app', ''],
    ['--url', 'localhost:9394'],
    ['--url', 'http://user:secret@127.0.0.1:9394'],
    ['--url', 'http://127.0.0.1:9394/api'],
  ] as const) {
    const { code, output } = await runSonde(['ps', flag, value])
    assert.equal(code, 2, `${flag} ${value}: ${output}`)
    assert.match(output, new RegExp(`^sonde: ${flag} is ".*"; allowed: .*\n$`))
  }
})

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Something that listens, and answers all requests alike. */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer().on('request', answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('what is no agent is told as such: another program, half an answer, one elsewhere', async (t) => {
  const says = (status: number, body: string, headers = {}) =>
    serve(t, (_request, response) => response.writeHead(status, headers).end(body))
  const cases: [string, RegExp][] = [
    [await says(404, 'no such page'), /has no \/api\/v1\/pods/],
    [await says(200, '<html>\x1b[2J</html>'), /is no agent of this version: "<html>/],
    [await says(200, '{"pods":[{"name":"a"}]}'), /is no agent of this version/],
    [
      await says(503, '{"error":{"code":"STO_BUSY","message":"ask again later\\u001b[2J"}}'),
      /answers 503: ask again later/,
    ],
    [await says(302, '', { location: 'http://127.0.0.1:1/' }), /no agent answers at .*redirect/],
    [
      await serve(t, (_request, response) => response.writeHead(200, { 'content-length': '9' }).end('{')),
      /no agent answers/,
    ],
  ]
  for (const [address, message] of cases) {
    const { code, output } = await runSonde(['ps', '--url', address])
    assert.equal(code, 1, output)
    assert.match(output, message)
    assert.equal(output.split('\n').length, 2, 'one line')
    assert.ok(!output.includes('\x1b'))
  }
})

test('names from outside are shown as text', async (t) => {
  const values = Object.fromEntries(
    [
      'util',
      'mem-used',
      'mem-total',
      'tensor-active',
      'sm-active',
      'dram-active',
      'fp16-active',
      'fp32-active',
      'power-w',
    ].map((name) => [`gpu-${name}`, null]),
  )
  const pod = {
    ...{
      namespace: 'ml',
      name: 'a\x1b[2J',
      app: '',
      service: 's\n',
      node: '',
      gpus: 0,
      instances: 0,
      requested: 2,
      values,
    },
    condition: { rank: 4, tone: 'warning', words: 'GPU not\x07 known' },
    ...{ sharedWith: 0, isScheduled: null, deviceValues: {} },
    ...{ isWarming: false, startedMs: null, ageMs: null, isSimulated: false },
    gaps: [{ fields: Object.keys(values), reason: 'it is not known which GPU it holds' }],
    attribution: null,
  }
  const answer = {
    nowMs: 0,
    state: 'late',
    summary: 'No number came.',
    advice: ['Look\x07.'],
    otherApps: [],
    totals: { gpus: 0, sharedGpus: 0, memoryUsedBytes: null, powerW: null },
    pods: [pod],
  }
  const address = await serve(t, (_request, response) => response.end(JSON.stringify(answer)))
  const { code, output } = await runSonde(['ps', '--url', address])
  assert.equal(code, 0, output)
  assert.match(output, /^ml +a\\u001b\[2J +- +s\\u000a +0 of 2( +-){9}$/m)
  assert.match(output, /^a\\u001b\[2J: no numbers: it is not known which GPU it holds$/m)
  assert.match(output, /^sonde: Look\\u0007\.$/m)
})
