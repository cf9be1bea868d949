import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryAnswer } from '@sonde/sdk'
import { until } from '../../../../../test/sonde-process.ts'
import { serveAgent } from '../../../test/served-agent.ts'
import { TestNode } from '../test-node.ts'
import { netdev } from './netdev.ts'

const VETH = new URL('fixtures/veth-namespace', import.meta.url)
const BEFORE = 3_000_000_000
/**
 * What a link of 10 Mb/s carries: a restart that is taken for a wrap of 32 bits gains a thousand times as much. Unit:
 * bytes a second.
 */
const LINK_MAX = 1.25e6
/** What is gained between two readings of the test. */
const STEP = 500

test('a counter that restarts at the front door is marked, and gains nothing that no link could carry', async (t) => {
  const node = new TestNode(t, VETH)
  const write = (value: number) =>
    node.write('proc/net/dev', node.read('proc/net/dev').replace(/(br0: +)\d+/, `$1${value}`))
  write(BEFORE)
  const { agent, address } = await serveAgent(t, { sources: [netdev], paths: node.paths })
  const startedMs = Date.now() - 1000
  const samples = () => agent.sources.find(({ name }) => name === 'netdev')?.stats.samples ?? 0
  const pass = async (count: number) => {
    const from = samples()
    await until('samples', 20_000, () => samples() >= from + count)
  }
  await pass(8)
  for (let step = 1; step <= 5; step++) {
    write(BEFORE + step * STEP)
    await pass(3)
  }
  const resetMs = Date.now()
  write(5)
  await pass(8)
  write(5 + STEP)
  await pass(8)
  const ask = async (stepMs: number): Promise<QueryAnswer> => {
    const queries = ['rate', 'increase'].map((fn) => {
      const matchers = [{ label: 'device', op: '=', value: 'br0' }]
      return { metric: 'netdev_rx_bytes_total', function: fn, matchers }
    })
    const body = JSON.stringify({ fromMs: startedMs, toMs: Date.now(), stepMs, queries })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${address}/api/v1/query`, { method: 'POST', headers, body })
    assert.equal(response.status, 200)
    return (await response.json()) as QueryAnswer
  }
  for (const stepMs of [100, 1000]) {
    const { results } = await ask(stepMs)
    for (const { function: fn, series } of results) {
      const [one] = series
      const values = [...(one?.values ?? [])].filter((value) => value !== null)
      assert.ok(
        values.some((value) => value > 0),
        `${fn} over ${stepMs} ms rises`,
      )
      const most = Math.max(...values)
      assert.ok(Math.min(...values) >= 0 && most <= (fn === 'rate' ? LINK_MAX : 10 * STEP), `${fn}: ${most}`)
      const resets = [...(one?.resetsMs ?? [])]
      assert.equal(resets.length, 1, `${fn} is marked once`)
      assert.ok(Math.abs((resets[0] ?? 0) - resetMs) < 5000, 'where it restarted')
    }
  }
  assert.deepEqual(agent.hints.answer().hints, [], 'no rule takes it for trouble')
})
