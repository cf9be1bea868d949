import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { absenceType, createSource, defineType, gauge, labelNumber, wallNs } from '../../index.ts'
import { type Holder, Quota } from './quota.ts'

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
  const holders: Holder[] = [undefined, 1n, 2n, 3n]
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

test('HELP of metrics of the agent says nothing that a client reports absent', async () => {
  const rig = fullRig()
  const absence = (reason: string) => ({
    time: wallNs(),
    type: 'heat',
    series: '',
    field: 'celsius',
    code: 'denied',
    reason,
  })
  const client = ofClient(rig, 1n)
  series(rig, client, 0, 1)
  rig.report(client, absenceType, absence('a client says so'))
  assert.match(await rig.page('text'), /^# HELP heat_celsius .*a client says so/m)
  const own = rig.source('own')
  series(rig, own, 1, 1)
  rig.report(own, absenceType, absence('the driver says so'))
  const page = await rig.page('text')
  assert.match(page, /^# HELP heat_celsius .*the driver says so/m)
  assert.doesNotMatch(page, /a client says so/)
})
