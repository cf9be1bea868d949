import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { SondeError } from '@sonde/sdk'
import { check } from '@sonde/sdk/config'
import { processTimers, type Timers } from '@sonde/sdk/internal'
import fastify from 'fastify'
import { until } from '../../../sdk/test/helper.ts'
import { readNode } from './agent-answers.ts'
import { Agents } from './agents.ts'
import { agentsSection } from './config.ts'
import { nodeRoutes } from './routes.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Looks come without a wait, so that a test need not wait either. */
const SOON: Timers = { ...processTimers, after: (ms, run) => processTimers.after(Math.min(ms, 20), run) }

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))

/** What an agent says, in the form of a real one. */
function honest(node: string, firmware: string, special: Answer = () => undefined): Answer {
  return (request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path === '/api/v1/node')
      json(response, {
        ...{ node, version: '1.2.3', startedMs: 5, simulated: false },
        hardware: { gpus: '8 × H100', nics: '', kernel: '6.8' },
      })
    else if (path === '/api/v1/hints') json(response, { hints: [{ severity: 'warning', stage: 'standing' }] })
    else if (path === '/api/v1/versions')
      json(response, { node, versions: [{ of: 'firmware', about: 'MT4129', version: firmware, count: 8 }] })
    else if (path === '/api/v1/sources') json(response, { sources: [], of: node, seen: request.headers })
    else special(request, response)
  }
}

async function listening(t: TestContext, answer: Answer): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-agents-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A console with the routes of nodes. */
async function consoleOver(
  t: TestContext,
  given: object,
  resolver?: ConstructorParameters<typeof Agents>[0]['resolver'],
) {
  const checked = check(agentsSection, given, 'console.agents')
  assert.ok(checked.ok, JSON.stringify(checked))
  const faults: SondeError[] = []
  const onFault = (fault: SondeError) => faults.push(fault)
  const agents = new Agents({ config: checked.value, onFault, timers: SOON, ...(resolver && { resolver }) })
  const app = fastify({ forceCloseConnections: true })
  app.setErrorHandler((error: Error & { code?: string }, _request, reply) => reply.code(500).send({ code: error.code }))
  nodeRoutes(app, agents, { compress: async (_request, _reply, payload) => payload })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const address = `127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const ask = (path: string, init?: RequestInit) => fetch(`http://${address}/api/v1/nodes${path}`, init)
  const codeOf = async (path: string, init?: RequestInit) =>
    ((await (await ask(path, init)).json()) as { code: string }).code
  /** As a program may ask that does not shorten a path before, as `fetch` does. */
  const codeOfRaw = (path: string) =>
    new Promise<string>((resolve, reject) => {
      const sent = httpRequest({ host: '127.0.0.1', port: address.split(':')[1], path: `/api/v1/nodes${path}` })
      sent.on('response', async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve(JSON.parse(Buffer.concat(chunks).toString()).code)
      })
      sent.on('error', reject).end()
    })
  await agents.start()
  const state = (name: string) => agents.answer().nodes.find((node) => node.name === name)?.state
  const untilState = (name: string, wanted: string | undefined) =>
    until(`${name} is ${wanted}`, () => state(name) === wanted)
  return { agents, ask, codeOf, codeOfRaw, faults, untilState }
}

test('lists nodes with state, hints and versions, and marks the minority', async (t) => {
  const urls: Record<string, string> = {}
  for (const [name, firmware] of [
    ['a', '28.43'],
    ['b', '28.43'],
    ['c', '28.39'],
  ] as const)
    urls[name] = `http://${await listening(t, honest(`host-${name}`, firmware))}`
  const { agents, untilState } = await consoleOver(t, { urls: { ...urls, gone: 'http://127.0.0.1:1' } })
  for (const name of Object.keys(urls)) await untilState(name, 'reachable')
  await untilState('gone', 'unreachable')
  const { nodes } = agents.answer()
  assert.deepEqual(
    nodes.map(({ name, node, hintCount, versions }) => [
      name,
      node,
      hintCount,
      versions.map(({ standing }) => standing),
    ]),
    [
      ['a', 'host-a', 1, ['common']],
      ['b', 'host-b', 1, ['common']],
      ['c', 'host-c', 1, ['minority']],
      ['gone', '', null, []],
    ],
  )
  assert.equal(nodes[3]?.reason, '127.0.0.1:1 refuses the connection')
  assert.deepEqual([...agents.reachable].sort(), ['a', 'b', 'c'])
})

test('passes on what reads, and nothing else', async (t) => {
  const seen: string[] = []
  const url = await listening(
    t,
    honest('a', '1', (request, response) => {
      seen.push(`${request.method} ${request.url}`)
      json(response, {})
    }),
  )
  const { ask, codeOf, codeOfRaw, untilState } = await consoleOver(t, { urls: { a: `http://${url}` } })
  await untilState('a', 'reachable')
  const sources = (await (
    await ask('/a/sources', { headers: { cookie: 'sonde-session=1', origin: 'http://x' } })
  ).json()) as {
    seen: Record<string, string>
  }
  assert.deepEqual(Object.keys(sources.seen).sort(), ['accept', 'connection', 'host'], 'nothing of the reader')
  await ask('/a/explain?of=rdma%20x')
  await ask('/a/query', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"queries":[]}' })
  await ask('/a/entities/port%3Amlx5_0%2F1')
  assert.deepEqual(seen.splice(1, 1), ['POST /api/v1/query'])
  assert.deepEqual(seen, ['GET /api/v1/explain?of=rdma%20x', 'GET /api/v1/entities/port%3Amlx5_0%2F1'])
  for (const path of ['/a/params', '/a/audit', '/a/session', '/a/']) assert.equal(await codeOf(path), 'NOD_ROUTE', path)
  const climbing = ['/a/sources/..%2F..%2fparams', '/a/entities/x%5c..%5Cparams', '/a/apps/x/%2e%2e%2f%2e%2e%2fparams']
  for (const path of [
    ...['/a/sources/..', '/a/sources/%2e%2E', '/a/incidents/.%2e/samples', '/a/apps/x/../../params'],
    ...climbing,
  ])
    assert.equal(await codeOfRaw(path), 'NOD_ROUTE', path)
  assert.equal((await ask('/a/simulator', { method: 'POST' })).status, 404)
  assert.equal(await codeOf('/b/node'), 'NOD_UNKNOWN')
  assert.equal(seen.length, 2, 'no such request reached the agent')
})

test('nothing of a hostile agent is a page, a login, a redirect or a cookie of the console', async (t) => {
  const answers: Record<string, [number, Record<string, string>]> = {
    '/api/v1/devices': [200, { 'content-type': 'text/html' }],
    '/api/v1/rates': [302, { location: 'http://127.0.0.1:1/', 'content-type': 'application/json' }],
    '/api/v1/types': [401, { 'content-type': 'application/json' }],
    '/api/v1/pods': [200, { 'content-type': 'application/json', 'content-length': `${1 << 30}` }],
    '/api/v1/incidents/stream': [200, { 'content-type': 'text/html' }],
    '/api/v1/traceback': [200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-more': '1' }],
  }
  const url = await listening(
    t,
    honest('a', '1', (request, response) => {
      const [status, headers] = answers[request.url ?? ''] ?? [200, { 'content-type': 'application/json' }]
      response.writeHead(status, headers).write('{}')
      if (headers['content-length'] === undefined) response.end()
    }),
  )
  const { ask, codeOf, untilState } = await consoleOver(t, { urls: { a: `http://${url}` } })
  await untilState('a', 'reachable')
  const found = ['devices', 'rates', 'types', 'pods', 'incidents/stream'].map((path) => codeOf(`/a/${path}`))
  assert.deepEqual(await Promise.all(found), ['NOD_ANSWER', 'NOD_ANSWER', 'NOD_LOGIN', 'NOD_ANSWER', 'NOD_ANSWER'])
  const { headers, status } = await ask('/a/traceback')
  assert.deepEqual([status, headers.get('set-cookie'), headers.get('x-more')], [200, null, null])
})

test('agents that hang, lie or are gone cost their neighbour nothing', async (t) => {
  const good = `http://${await listening(t, honest('good', '1'))}`
  const silent = `http://${await listening(t, () => undefined)}`
  const lying = `http://${await listening(t, (_request, response) => json(response, { node: 7 }))}`
  const endless = `http://${await listening(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (response.writable && response.write('['.repeat(1 << 16)));
    }
    response.on('drain', more)
    more()
  })}`
  const slow = `http://${await listening(
    t,
    honest('slow', '1', () => undefined),
  )}`
  const { agents, ask, codeOf, untilState } = await consoleOver(t, {
    urls: { good, silent, lying, endless, slow, gone: 'http://127.0.0.1:1' },
  })
  for (const [name, state] of [
    ['good', 'reachable'],
    ['slow', 'reachable'],
    ['lying', 'refused'],
    ['endless', 'refused'],
    ['gone', 'unreachable'],
  ] as const)
    await untilState(name, state)
  // More readers than one agent may have: those of the others find their places free.
  const leaving = new AbortController()
  const stuck = Array.from({ length: 40 }, () => codeOf('/slow/types', { signal: leaving.signal }).catch(() => 'left'))
  assert.equal(
    await Promise.any(stuck.map((each) => each.then((code) => (code === 'NOD_BUSY' ? code : Promise.reject(code))))),
    'NOD_BUSY',
  )
  assert.equal((await ask('/good/sources')).status, 200)
  assert.equal(await codeOf('/gone/sources'), 'NOD_UNREACHABLE')
  assert.equal(await codeOf('/lying/sources'), 'NOD_UNREACHABLE', 'nobody waits for it')
  leaving.abort()
  await Promise.all(stuck)
  const { answeredMs } = agents.answer().nodes.find(({ name }) => name === 'good') ?? {}
  await until('the neighbour is looked at as before', () => {
    const now = agents.answer().nodes.find(({ name }) => name === 'good')?.answeredMs ?? 0
    return now > (answeredMs ?? 0)
  })
})

test('an agent that started at no date is none', () => {
  const node = { node: 'a', version: '1', simulated: false, hardware: { gpus: '', nics: '', kernel: '' } }
  for (const startedMs of [1e99, -1, Number.NaN, '5'])
    assert.throws(() => readNode({ ...node, startedMs }), /NOD_ANSWER|without startedMs/, String(startedMs))
  assert.equal(readNode({ ...node, startedMs: 8.64e15 }).startedMs, 8.64e15)
})

test('a stream ends with its agent, and its place is free again', async (t) => {
  let isGone = false
  const url = await listening(t, (request, response) => {
    if (isGone) return json(response, {}, 500)
    return honest('a', '1', (_asked, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: state\ndata: 1\n\n')
    })(request, response)
  })
  const { ask, untilState } = await consoleOver(t, { urls: { a: `http://${url}` } })
  await untilState('a', 'reachable')
  const stream = await ask('/a/stream?q=1')
  assert.equal(stream.headers.get('content-type'), 'text/event-stream')
  const reader = stream.body?.getReader()
  assert.match(Buffer.from((await reader?.read())?.value ?? []).toString(), /event: state/)
  isGone = true
  await untilState('a', 'refused')
  await assert.rejects(async () => {
    while (!(await reader?.read())?.done);
  })
})

/** Nobody reads the file half written. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

test('follows a discovery file, a name and a token as they change; what is broken keeps the old', async (t) => {
  const folder = folderOf(t)
  const seen: (string | undefined)[] = []
  const answer: Answer = (request, response) => {
    seen.push(request.headers.authorization)
    honest('a', '1')(request, response)
  }
  const one = await listening(t, answer)
  const two = await listening(t, answer)
  const three = await listening(t, answer)
  const [file, token] = [join(folder, 'agents.json'), join(folder, 'token')]
  replaceFile(file, JSON.stringify([{ targets: [one], labels: { node: 'one' } }]))
  replaceFile(token, 'first\n')
  const [host = '', port = ''] = three.split(':')
  const { agents, faults, untilState } = await consoleOver(
    t,
    { discovery_file: file, token_file: token, dns_name: `agents.example:${port}` },
    { addresses: async () => [host], services: async () => [] },
  )
  await untilState('one', 'reachable')
  await untilState(three, 'reachable')
  assert.deepEqual([...new Set(seen)], ['Bearer first'])
  replaceFile(token, '')
  replaceFile(file, '[{"targets": "x"}]')
  await until('both faults are told', () => faults.length === 2)
  assert.deepEqual(
    agents
      .answer()
      .faults.map((fault) => fault.slice(folder.length + 1))
      .sort(),
    ['agents.json has a group without a list of targets', 'token has no token; allowed: one line with a token'],
  )
  await untilState('one', 'reachable')
  replaceFile(token, 'second')
  replaceFile(file, JSON.stringify([{ targets: [two] }]))
  await untilState(two, 'reachable')
  await untilState('one', undefined)
  await until('the new token is sent', () => seen.at(-1) === 'Bearer second')
  assert.equal(faults.length, 2, 'each is told once')
})
