import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buckets, defineType, label, timestamp, wallNs } from '@sonde/sdk'
import type { QueryAnswer } from '@sonde/sdk/internal'
import * as v from 'valibot'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { sampled } from '../sources/sampled.ts'
import type { SourceDefinition } from '../sources/source.ts'

const waitsOf = (edges: readonly number[]) =>
  defineType('waits', 'Waits of a device', {
    time: timestamp(),
    device: label(),
    seconds: buckets('u64', edges, { unit: 'seconds' }),
  })
/** Devices say different edges. */
const FINE = waitsOf([0.001, 0.002])
const COARSE = waitsOf([0.01])

/** A source whose bins gain 1, 2 and 3 a sample, or 4 and 5. */
const waits: SourceDefinition = {
  name: 'waits',
  summary: 'Reports two histograms',
  types: [FINE, COARSE],
  host: 'agent',
  intervalMs: 50,
  options: v.strictObject({}),
  load: async () => ({
    create: (_options, context) => {
      let samples = 0
      return sampled(
        {
          probe: () => ({ state: 'present', found: '2 devices' }),
          sample() {
            samples++
            const time = wallNs()
            const counts = (...each: readonly number[]) => each.map((count) => count * samples)
            context.source.report(FINE, { time, device: 'fine', seconds: counts(1, 2, 3) })
            context.source.report(COARSE, { time, device: 'coarse', seconds: counts(4, 5) })
          },
          close: () => undefined,
        },
        context,
      )
    },
  }),
}

async function served(test: TestContext) {
  const { agent, address } = await serveAgent(test, { sources: [waits] })
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${address}${path}`, init)
    assert.equal(response.status, 200, path)
    return (await response.json()) as T
  }
  await until('some samples', () => (agent.sources.find(({ name }) => name === 'waits')?.stats.records ?? 0) > 20)
  return ask
}

const STEP_MS = 10_000

/** The answer for the step that is under way, once something was counted in it. */
function gains(ask: Awaited<ReturnType<typeof served>>, query: object) {
  const queries = [{ metric: 'waits_seconds', function: 'increase', ...query }]
  return until('a step with a gain', async () => {
    const toMs = Math.ceil(Date.now() / STEP_MS) * STEP_MS
    const window = { fromMs: toMs - STEP_MS, toMs, stepMs: STEP_MS }
    const { results } = await ask<QueryAnswer>('/api/v1/query', { ...window, queries })
    return results[0]?.series.some(({ values }) => (values.at(-1) ?? 0) > 0) && results[0]
  })
}

test('types, series and explain say the edges, and a question is answered by bin', async (t) => {
  const ask = await served(t)
  const { types } = await ask<{ types: { name: string; fields: { edges?: number[] }[] }[] }>('/api/v1/types')
  const listed = types.filter(({ name }) => name === 'waits').map(({ fields }) => fields[0]?.edges)
  assert.deepEqual(listed, [[0.001, 0.002], [0.01]])
  const { series } = await ask<{ series: { value: string; edges: number[]; labels: { device: string } }[] }>(
    '/api/v1/series?metric=waits_seconds',
  )
  const fine = series.find(({ labels }) => labels.device === 'fine')
  assert.deepEqual(fine?.edges, [0.001, 0.002])
  assert.equal(Number(fine?.value) % 6, 0)
  const { links } = await ask<{ links: { answer: string }[] }>('/api/v1/explain?of=waits_seconds')
  assert.match(
    links.at(-1)?.answer ?? '',
    /^2 series.*edges of the bins: (0\.001, 0\.002; or 0\.01|0\.01; or 0\.001, 0\.002)$/,
  )

  const answered = await gains(ask, { matchers: [{ label: 'device', op: '=', value: 'fine' }] })
  const [low, middle, high] = answered.series.map(({ values }) => values.at(-1) ?? 0) ?? []
  assert.deepEqual(
    answered.series.map(({ bin }) => bin),
    [
      { above: null, upTo: 0.001 },
      { above: 0.001, upTo: 0.002 },
      { above: 0.002, upTo: null },
    ],
  )
  assert.ok(low !== undefined && low > 0)
  assert.deepEqual([middle, high], [2 * low, 3 * low])
})

test('a sum over histograms of different edges says that they stay apart', async (t) => {
  const ask = await served(t)
  const joined = await gains(ask, { by: [] })
  assert.equal(joined.series.length, 5)
  assert.match(joined.notes.join(), /different edges/)
  const quantile = await gains(ask, { function: 'quantile', quantile: 0.5, by: ['device'] })
  const ofFine = quantile.series.find(({ labels }) => labels.device === 'fine')
  // Half of 1, 2 and 3 lies at the upper edge of the second bin.
  assert.ok(Math.abs((ofFine?.values.at(-1) ?? 0) - 0.002) < 1e-12)
})
