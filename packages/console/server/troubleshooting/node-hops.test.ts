import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { HopState, TroubleshootingHop } from '@sonde/sdk/api'
import { check } from '@sonde/sdk/config'
import { processTimers, type Timers } from '@sonde/sdk/internal'
import { until } from '../../../sdk/test/helper.ts'
import { Agents } from '../agents/agents.ts'
import { agentsSection } from '../agents/config.ts'
import { agentsHop, hopsOverNodes } from './node-hops.ts'

/** Looks come without a wait, so that a test need not wait either. */
const SOON: Timers = { ...processTimers, after: (ms, run) => processTimers.after(Math.min(ms, 20), run) }
const READER = { exporter: 'operator', program: 'ps', backend: '' } as const

/** The answer of an agent at the route of troubleshooting. */
type Answer = (response: ServerResponse, url: string) => void

const json = (response: ServerResponse, body: unknown) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const finds = (state: HopState, finding: string): Answer => {
  const hop = { name: 'Exporter', state, finding, advice: 'Do it.', commands: ['rm -rf /'], explain: 'x' }
  return (response) => json(response, { nowMs: 1, exporter: 'helm', program: 'agent', hops: [hop] })
}

async function startAgent(t: TestContext, answer: Answer): Promise<string> {
  const hardware = { gpus: '', nics: '', kernel: '' }
  const bodies: Readonly<Record<string, unknown>> = {
    '/api/v1/node': { node: 'n', version: '1', startedMs: 1, simulated: false, hardware },
    '/api/v1/hints': { hints: [] },
    '/api/v1/versions': { versions: [] },
  }
  const server = createServer(({ url = '' }, response) => {
    const body = bodies[url]
    if (body === undefined) answer(response, url)
    else json(response, body)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function agentsOf(t: TestContext, answers: Readonly<Record<string, Answer>>): Promise<Agents> {
  const urls: Record<string, string> = {}
  for (const [name, answer] of Object.entries(answers)) urls[name] = await startAgent(t, answer)
  const checked = check(agentsSection, { urls: { ...urls, gone: 'http://127.0.0.1:1' } }, 'console.agents')
  assert.ok(checked.ok)
  const agents = new Agents({ config: checked.value, onFault: () => undefined, timers: SOON })
  t.after(() => agents.stop())
  await agents.start()
  await until('all are looked at', () => agents.answer().nodes.every(({ state }) => state !== 'asking'))
  return agents
}

const hop = (given: Partial<TroubleshootingHop> = {}): TroubleshootingHop => {
  return { name: 'Exporter', state: 'unknown', finding: '', advice: '', commands: ['look'], ...given }
}

test('a hop has the worst state of the nodes, says how many there are of each, and lists them by name', async (t) => {
  const asked: string[] = []
  const agents = await agentsOf(t, {
    a10: (response, url) => {
      asked.push(url)
      finds('ok', 'It reads.')(response, url)
    },
    a9: finds('ok', 'It reads.'),
    b: finds('broken', 'It answers 503.'),
    c: finds('off', 'It is off.'),
  })
  const signal = new AbortController().signal
  const [found] = await hopsOverNodes([hop()], agents.links, READER, signal)
  assert.deepEqual(asked, ['/api/v1/troubleshooting?exporter=operator&program=ps'])
  assert.deepEqual(found, {
    ...hop({ state: 'broken' }),
    finding: 'Broken on 1 of 5 nodes, works on 2, off on 1, not known of 1.',
    nodes: [
      { node: 'b', state: 'broken', finding: 'It answers 503.', advice: 'Do it.' },
      { node: 'c', state: 'off', finding: 'It is off.', advice: 'Do it.' },
      { node: 'a9', state: 'ok', finding: 'It reads.', advice: 'Do it.' },
      { node: 'a10', state: 'ok', finding: 'It reads.', advice: 'Do it.' },
    ],
  })
  const [own] = await hopsOverNodes([hop({ state: 'ok', finding: 'All here is well.' })], agents.links, READER, signal)
  assert.match(own?.finding ?? '', /^Broken on 1 of 5 nodes, .* All here is well\.$/)

  const { state, finding, commands, nodes } = agentsHop(agents)
  assert.deepEqual([state, finding], ['broken', '4 of 5 agents answer.'])
  assert.deepEqual(commands, ['curl -sS http://127.0.0.1:1/healthz'])
  assert.deepEqual(nodes, [
    { node: 'gone', state: 'broken', finding: '127.0.0.1:1 refuses the connection.', advice: '' },
  ])
})

test('hostile answers of agents cost their own finding alone', async (t) => {
  const agents = await agentsOf(t, {
    honest: finds('ok', 'It reads.'),
    strange: (response) => json(response, { hops: [{ name: 'Exporter', state: 'fine', finding: 1 }] }),
    proto: (response) => json(response, JSON.parse('{"__proto__": {"hops": []}, "hops": {"length": 1e9}}')),
    long: finds('ok', 'x'.repeat(1e5)),
    endless: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const write = () => {
        while (response.write(' '.repeat(1 << 16)));
      }
      response.on('drain', write)
      write()
    },
  })
  const [found] = await hopsOverNodes([hop()], agents.links, READER, new AbortController().signal)
  const { state, finding = '', nodes = [] } = found ?? {}
  assert.deepEqual([state, finding], ['ok', 'Works on 2 of 6 nodes, not known of 4.'])
  assert.deepEqual(
    nodes.map(({ node, finding: own }) => [node, own.length]),
    [
      ['honest', 9],
      ['long', 1000],
    ],
  )
})
