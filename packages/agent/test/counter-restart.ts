import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { QueryAnswer } from '@sonde/sdk/internal'
import { until } from '../../../test/sonde-process.ts'
import type { SourceDefinition } from '../src/sources/source.ts'
import type { TestNode } from '../src/sources/test-node.ts'
import { serveAgent } from './served-agent.ts'

const BEFORE = 3_000_000_000
/** What is gained between two readings of the test. */
const STEP = 500

/** A counter that restarts from 3 000 000 000 at 5. */
export interface RestartingCounter {
  /** The label that names the device. */
  readonly label: string
  readonly source: SourceDefinition
  readonly node: TestNode
  readonly write: (value: number) => void
  readonly metric: string
  readonly device: string
  /** What the link carries; a restart that is taken for a wrap of 32 bits gains far more. Unit: per second. */
  readonly rateMax: number
}

/** Lets a counter restart below an agent, and holds that its answers mark it and gain nothing that no link carries. */
export async function assertRestartIsMarked(
  t: Pick<TestContext, 'after'>,
  { source, node, write, metric, label, device, rateMax }: RestartingCounter,
): Promise<void> {
  write(BEFORE)
  const { agent, address } = await serveAgent(t, { sources: [source], paths: node.paths })
  const startedMs = Date.now() - 1000
  const samples = () => agent.sources.find(({ name }) => name === source.name)?.stats.samples ?? 0
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
      const matchers = [{ label, op: '=', value: device }]
      return { metric, function: fn, matchers }
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
      assert.ok(Math.min(...values) >= 0 && most <= (fn === 'rate' ? rateMax : 10 * STEP), `${fn}: ${most}`)
      const resets = [...(one?.resetsMs ?? [])]
      assert.equal(resets.length, 1, `${fn} is marked once`)
      assert.ok(Math.abs((resets[0] ?? 0) - resetMs) < 5000, 'where it restarted')
    }
  }
  assert.deepEqual(agent.hints.answer().hints, [], 'no rule takes it for trouble')
}
