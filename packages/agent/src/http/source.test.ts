import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { until } from '../../../sdk/test/helper.ts'
import { SOURCES as METERS } from '../../test/meter-source.ts'
import { serveAgent } from '../../test/served-agent.ts'
import { sampled } from '../sources/sampled.ts'
import type { SourceDefinition } from '../sources/source.ts'

/** The checked parts of an answer. */
interface Answer {
  readonly found: string
  readonly errors: number
  readonly failures: readonly { readonly place: string; readonly message: string; readonly count: number }[]
  readonly settings: readonly { readonly key: string }[]
  readonly reports: readonly { readonly labels: readonly string[] }[]
  readonly error: { readonly code: string; readonly message: string }
}

/** The checked parts of `/api/v1/sources` for the sources of a test. */
interface Fared {
  readonly name: string
  readonly state: string
  readonly restarts: number
  readonly samples: number
  readonly periods: readonly { readonly device: string; readonly drainUs: number | null; readonly reportUs: number }[]
}

/** A source with a setting, whose reads all fail. */
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

test('a device that hangs is named with duty, time and what to do, and explained', async (t) => {
  const { address } = await serveAgent(t, { sources: METERS })
  const sinceMs = Date.now()
  const [call] = await until('m2 is stuck', async () => {
    const answer = await fetch(`${address}/api/v1/sources/meter_polls`)
    const { stuck } = (await answer.json()) as { stuck: readonly { device: string; duty: string; sinceMs: number }[] }
    return stuck.length > 0 && stuck
  })
  assert.ok(call !== undefined && call.sinceMs >= sinceMs && call.sinceMs <= Date.now())
  assert.deepEqual(call, {
    ...{ device: 'm2', duty: 'poll', sinceMs: call.sinceMs, limitMs: 200, limitKey: 'meters.limit_ms' },
    reason: 'the call poll took more than 200 ms',
    fix: 'look in dmesg why the driver of m2 does not answer; where the call only takes longer, raise meters.limit_ms',
  })
  const explained = await fetch(`${address}/api/v1/explain?of=meter_polls`)
  const { links } = (await explained.json()) as { links: readonly { state: string; answer: string; fix?: string }[] }
  const broken = links.find(({ state }) => state === 'broken')
  assert.match(broken?.answer ?? '', /^reading, but stuck: m2 poll, called \d+(\.\d)? s ago$/)
  assert.match(broken?.fix ?? '', /raise meters\.limit_ms$/)
})

test('a period that a command set is told by its meaning, and holds after the child process was killed', async (t) => {
  const { agent, address } = await serveAgent(t, { sources: METERS })
  const fared = async (name: string): Promise<Fared> => {
    const answer = await fetch(`${address}/api/v1/sources`)
    const { sources } = (await answer.json()) as { sources: readonly Fared[] }
    return sources.find((source) => source.name === name) as Fared
  }
  const periodOf = async (name: string, device: string) =>
    (await fared(name)).periods.find((period) => period.device === device)
  const source = (name: string) => agent.sources.find((each) => each.name === name)
  await until('the drains', async () => (await periodOf('meter_samples', 'm0'))?.drainUs === 20_000)
  await source('meter_samples')?.setPeriod({ device: 'm0', duty: 'drain', everyUs: 7000 })
  await source('meter_polls')?.setPeriod({ device: 'm1', duty: 'poll', everyUs: 9000 })
  const isTold = async () => {
    const [drained, polled] = [await periodOf('meter_samples', 'm0'), await periodOf('meter_polls', 'm1')]
    return drained?.drainUs === 7000 && drained.reportUs === 50_000 && polled?.reportUs === 9000
  }
  await until('both are told', isTold)
  const [child] = agent.hosts.children()
  process.kill(Number(child?.pid), 'SIGKILL')
  await until('another host', async () => (await fared('meter_polls')).restarts === 1)
  const before = await fared('meter_polls')
  await until('it reads again', async () => (await fared('meter_polls')).samples > before.samples + 20)
  assert.ok(await isTold())
  assert.equal((await periodOf('meter_polls', 'm2'))?.reportUs, 10_000, 'those of others stay as they were')
})
