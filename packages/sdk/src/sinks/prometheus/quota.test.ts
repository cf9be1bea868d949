import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { buckets, chars, counter, createSource, defineType, gauge, label, labelNumber } from '../../index.ts'
import { Quota, type QuotaHolder } from './quota.ts'

const LIMIT = 1000
const heat = defineType('heat', 'Heat', { place: labelNumber('u32'), celsius: gauge('u32') })

/** A view whose types hold 80 series each. */
const fullRig = () => new PrometheusRig({ seriesLimit: 80 })

/** A source whose batches come from a client. */
function ofClient(rig: PrometheusRig, client: bigint, id = `client${client}`) {
  return createSource({ id, emit: (batch) => rig.view.accept({ ...batch, page: { client, sequence: 1n } }) })
}

function series(rig: PrometheusRig, source: ReturnType<typeof ofClient>, from: number, count: number): void {
  rig.report(source, heat, ...Array.from({ length: count }, (_, i) => ({ place: from + i, celsius: i })))
}

test('one client leaves room for the agent and for other clients', () => {
  const quota = new Quota(LIMIT)
  quota.add(1n, quota.roomFor(1n))
  assert.equal(quota.held.get(1n), LIMIT / 2)
  assert.equal(quota.roomFor(2n), LIMIT / 8)
  assert.equal(quota.roomFor(undefined), LIMIT / 2)
  for (const client of [2n, 3n, 4n]) quota.add(client, Math.max(0, quota.roomFor(client)))
  assert.equal(quota.roomFor(undefined), LIMIT / 4)
})

property('what a quota holds stays within its limit, and nobody is listed who holds nothing', 100, (random) => {
  const quota = new Quota(LIMIT)
  const holders: QuotaHolder[] = [undefined, 1n, 2n, 3n]
  for (let step = 0; step < 100; step++) {
    const holder = random.pick(holders)
    const room = Math.max(0, quota.roomFor(holder))
    quota.add(holder, random.chance(0.5) ? random.integer(0, room) : -random.integer(0, quota.held.get(holder) ?? 0))
    const held = [...quota.held.values()]
    assert.ok(held.every((amount) => amount > 0))
    assert.ok(held.reduce((sum, amount) => sum + amount, 0) <= LIMIT)
  }
})

test('series of a client that leaves make room for it again, however often it comes and whether or not anybody scrapes', async () => {
  const rig = fullRig()
  series(rig, ofClient(rig, 2n), 1000, 10)
  series(rig, rig.source('own'), 2000, 20)
  await rig.view.flush()
  for (let round = 1; round <= 5; round++) {
    const hostile = ofClient(rig, 1n)
    series(rig, hostile, 0, 80)
    await rig.view.flush()
    assert.equal(rig.dropped('series_limit'), 50 * round)
    if (round % 2 === 0) assert.equal((await rig.lines()).length, 60)
    rig.view.removeSource(hostile.info)
  }
  assert.equal((await rig.lines()).length, 30)
})

test('long lines, and large records, count as several lines', async () => {
  const rig = new PrometheusRig({ lineLimit: 110 })
  const source = rig.source()
  const long = defineType('long', '', { name: label(), a: gauge('u8'), b: gauge('u8') })
  for (const name of ['a', 'b', 'c', 'd']) rig.report(source, long, { name: name.repeat(4000), a: 1, b: 2 })
  // Each of the two lines of a row has some 4020 bytes: 16 times 256. A fourth row finds no room.
  assert.equal(rig.dropped('line_limit'), 1)
  assert.equal(rig.view.seriesCount, 6)
  rig.view.removeSource(source.info)
  const large = defineType('large', '', {
    place: labelNumber('u32'),
    a: gauge('u8'),
    rest: chars(4000, { role: 'value' }),
  })
  for (let place = 0; place < 4; place++) rig.report(source, large, { place, a: 1, rest: '' })
  // They may wait for a turn in which the rows before are taken out.
  await rig.view.flush()
  // A record of some 4000 bytes is kept twice.
  assert.equal(rig.dropped('line_limit'), 2)
  assert.equal((await rig.lines()).length, 3)
})

test('a metric name goes to a type of this process, whichever client had it first; the client is refused and counted', async () => {
  const rig = fullRig()
  const metric = 'heat_celsius'
  const poses = [
    defineType('agreeing', 'A pose', { place: labelNumber('u32'), c: gauge('u32', { metric }) }),
    defineType('bins', 'A pose', { place: labelNumber('u32'), c: buckets('u32', [1], { metric: 'heat' }) }),
    defineType('sample', 'A pose', { place: labelNumber('u32'), c: counter('u32', { metric: 'wait_seconds_count' }) }),
  ] as const
  const clients = poses.map((_, i) => ofClient(rig, BigInt(i + 1)))
  const pose = () => {
    rig.report(clients[0]!, poses[0], { place: 9, c: 1 })
    rig.report(clients[1]!, poses[1], { place: 9, c: [1, 2] })
    rig.report(clients[2]!, poses[2], { place: 9, c: 1 })
  }
  pose()
  assert.equal((await rig.lines()).length, 4)
  const own = rig.source('own')
  const wait = defineType('wait', 'Waits', { seconds: buckets('u32', [1]) })
  const other = defineType('other', 'Not bins', { place: labelNumber('u32'), c: gauge('u32', { metric: 'heat' }) })
  rig.report(own, heat, { place: 1, celsius: 1 })
  rig.report(own, wait, { seconds: [1, 2] })
  // A type of which a client had records first is one of this process too.
  rig.report(clients[0]!, other, { place: 7, c: 7 })
  rig.report(own, other, { place: 8, c: 8 })
  pose()
  const families = await rig.families('text')
  assert.deepEqual([...families].map(([name, { type, help }]) => `${name} ${type} ${help.split('.')[0]}`).sort(), [
    'heat gauge Not bins: c',
    'heat_celsius gauge Heat: celsius',
    'wait_seconds histogram Waits: seconds',
  ])
  assert.equal(families.get(metric)?.samples.length, 2, 'what agrees is shown beside')
  assert.deepEqual(
    rig.view
      .conflicts()
      .map(({ type, owner }) => `${type} ${owner}`)
      .sort(),
    ['bins heat', 'sample wait_seconds'],
  )
  assert.equal(rig.dropped('metric_conflict'), 3, 'one as other came of a client, two of those that lost their name')
  assert.equal(rig.view.stats.in, rig.view.stats.out + [...rig.view.stats.dropped.values()].reduce((a, b) => a + b, 0))
})
