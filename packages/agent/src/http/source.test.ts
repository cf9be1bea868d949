import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { until } from '../../../sdk/test/helper.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { sampled } from '../sources/sampled.ts'
import type { SourceDefinition } from '../sources/source.ts'

/** What is looked at of an answer. */
interface Answer {
  readonly found: string
  readonly errors: number
  readonly failures: readonly { readonly place: string; readonly message: string; readonly count: number }[]
  readonly settings: readonly { readonly key: string }[]
  readonly reports: readonly { readonly labels: readonly string[] }[]
  readonly error: { readonly code: string; readonly message: string }
}

/** A source whose every read fails, and that has a setting of its own. */
const brittle: SourceDefinition = {
  name: 'brittle',
  summary: 'Reads what breaks',
  types: [],
  host: 'agent',
  intervalMs: 50,
  options: v.strictObject({
    depth: v.optional(v.pipe(v.number('a number'), v.description('How far down')), 3),
  }),
  load: async () => ({
    create: (_options, context) =>
      sampled(
        {
          probe: () => ({ state: 'present', found: 'one thing' }),
          sample: () => context.failed('/sys/thing', new Error('EIO: i/o error')),
          close: () => undefined,
        },
        context,
      ),
  }),
}

test('one source tells its settings with their origin, what it reports, and where it failed', async (t) => {
  const { address } = await serveAgent(t, { sources: [brittle] })
  const ask = async (name: string) => {
    const answer = await fetch(`${address}/api/v1/sources/${name}`)
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const { body } = await until('a failed read', async () => {
    const answer = await ask('brittle')
    return (answer.body.failures[0]?.count ?? 0) >= 2 ? answer : undefined
  })
  assert.equal(body.found, 'one thing')
  assert.equal(body.failures[0]?.place, '/sys/thing')
  assert.match(body.failures[0]?.message ?? '', /EIO/)
  assert.ok(body.errors >= 2)
  const [depth] = body.settings.filter(({ key }) => key === 'depth')
  assert.deepEqual(depth, {
    key: 'depth',
    value: 3,
    fallback: 3,
    allowed: 'a number',
    description: 'How far down',
    origin: 'program',
  })
  const steady = await ask('steady')
  assert.deepEqual(steady.body.reports[0]?.labels, ['device'])
  const unknown = await ask('nothing')
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'AGT_UNKNOWN'])
  assert.match(unknown.body.error.message, /steady, brittle/)
})
