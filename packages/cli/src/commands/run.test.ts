import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Agent } from '@sonde/agent'
import { readyLine } from './run.ts'

/** An agent with one source, which settles on command. */
function starting(t: TestContext): { agent: Agent; settle: () => void; pass: (ms: number) => Promise<void> } {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const source = { name: 'ethtool', state: 'starting', settled: false, found: '10 interfaces', reason: '' }
  return {
    agent: { sources: [source] } as unknown as Agent,
    settle: () => Object.assign(source, { state: 'reading', settled: true }),
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 20) {
        t.mock.timers.tick(20)
        await Promise.resolve()
      }
    },
  }
}

test('the ready line waits for a source that is slow to start', async (t) => {
  const { agent, settle, pass } = starting(t)
  const line = readyLine(agent, 'http://127.0.0.1:1', { usual: new Set(), extra: '' })
  await pass(10_000)
  settle()
  await pass(100)
  assert.equal(await line, 'Sonde is ready on http://127.0.0.1:1 · ethtool (10 interfaces)')
})

test('a source that has not settled after 15 s is told as starting', async (t) => {
  const { agent, pass } = starting(t)
  const line = readyLine(agent, 'http://127.0.0.1:1', { usual: new Set(), extra: '' })
  await pass(15_100)
  assert.equal(await line, 'Sonde is ready on http://127.0.0.1:1 · ethtool starting')
})

test('absent hardware that nobody asked for comes last, by its name alone', async (t) => {
  const { agent } = starting(t)
  const one = { settled: true, found: '', reason: '/sys/class/infiniband is not there' }
  const sources = [
    { ...one, name: 'rdma', state: 'absent' },
    { ...one, name: 'host', state: 'reading', found: '2 CPUs' },
    { ...one, name: 'diag', state: 'denied', reason: 'it taints the kernel' },
    { ...one, name: 'dcb', state: 'absent' },
    { ...one, name: 'asked', state: 'absent', reason: 'no mlx5_9; there is mlx5_0' },
  ]
  Object.assign(agent, { sources })
  const line = await readyLine(agent, 'http://127.0.0.1:1', { usual: new Set(['rdma', 'host', 'dcb']), extra: '' })
  const [, host, ...others] = line.split(' · ')
  assert.equal(host, 'host (2 CPUs)')
  assert.deepEqual(others, [
    'diag denied: it taints the kernel',
    'asked absent: no mlx5_9; there is mlx5_0',
    'absent: rdma, dcb; npx sonde check says why',
  ])
})
