import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExplainWalk } from '@sonde/sdk/api'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'

async function ask(
  address: string,
  of: string,
): Promise<{ status: number; body: ExplainWalk & { error?: { code: string } } }> {
  const response = await fetch(`${address}/api/v1/explain?of=${encodeURIComponent(of)}`)
  return { status: response.status, body: (await response.json()) as ExplainWalk }
}

test('a metric is walked up to its newest value', async (t) => {
  const { agent, address } = await serveAgent(t)
  await until('a sample', () => agent.sources[0]?.state === 'reading')
  const { status, body } = await ask(address, 'steady_samples_total')
  assert.equal(status, 200)
  assert.equal(body.source, 'steady')
  assert.deepEqual(
    body.links.map(({ name, state }) => `${name} ${state}`),
    ['configuration ok', 'agent ok', 'value ok'],
  )
  assert.match(body.links.at(-1)?.answer ?? '', /^2 series, newest \d+ .* s ago$/)
})

test('a source that is known and not configured is told as left out', async (t) => {
  const { address } = await serveAgent(t)
  const { body } = await ask(address, 'netdev')
  assert.deepEqual(body.links.map(({ name, state }) => `${name} ${state}`)[0], 'configuration broken')
})

test('names that nothing has, and no name at all, are refused with a code', async (t) => {
  const { address } = await serveAgent(t)
  const unknown = await ask(address, 'stead')
  assert.deepEqual([unknown.status, unknown.body.error?.code], [404, 'EXP_UNKNOWN'])
  const none = await fetch(`${address}/api/v1/explain`)
  assert.equal(none.status, 400)
})
