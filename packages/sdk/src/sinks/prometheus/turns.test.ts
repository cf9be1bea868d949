import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { defineType, gauge, label, labelNumber, type RecordOf } from '../../index.ts'
import { turn } from '../../internal/turn.ts'

/** How often some work asks for turns. */
async function askedIn(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const isOver = t.mock.method(turn, 'isOver')
  await work()
  isOver.mock.restore()
  return isOver.mock.callCount()
}

test('types that share metrics with many series ask for turns while they are compared, and while they expire', async (t) => {
  const rig = new PrometheusRig()
  const fields = { place: labelNumber('u32'), celsius: gauge('u64', { metric: 'heat_celsius' }) }
  const count = 5000
  for (const [i, name] of ['one', 'two'].entries()) {
    const records = Array.from({ length: count }, (_, place) => ({ place: place + (i * count) / 2, celsius: 1 }))
    rig.report(rig.source(name), defineType(name, '', fields), ...records)
  }
  await rig.view.flush()
  const firstAsked = await askedIn(t, () => rig.page('text'))
  assert.equal(rig.dropped('duplicate_series'), count / 2)
  rig.nowMs += 400_000
  const lastAsked = await askedIn(t, async () => assert.equal(await rig.page('text'), ''))
  // Once in a hundred rows at least; lines alone are asked for every 256.
  for (const asked of [firstAsked, lastAsked]) assert.ok(asked > (2 * count) / 100, `asked ${asked} times`)
})

test('series of long labels ask for turns by their bytes, and none is compared with all others', async (t) => {
  const rig = new PrometheusRig()
  const texts = ['a', 'b', 'c', 'd', 'e']
  const labels = Object.fromEntries(texts.map((name) => [name, label()]))
  const type = defineType('long', '', { ...labels, place: labelNumber('u32'), celsius: gauge('u64') })
  const long = Object.fromEntries(texts.map((name) => [name, name.repeat(4000)]))
  const count = 3000
  const source = rig.source()
  const report = async (celsius: number) => {
    const records = Array.from({ length: count }, (_, place) => ({ ...long, place, celsius }))
    rig.report(source, type, ...(records as RecordOf<typeof type>[]))
    await rig.view.flush()
  }
  const { user } = process.threadCpuUsage()
  // Each series weighs more than all that may come between two looks at the clock.
  assert.ok((await askedIn(t, () => report(1))) >= count)
  let bytes = 0
  const scrape = async () => {
    const { bytes: shown, release } = await rig.view.render()
    bytes = shown
    return release
  }
  const stepBytes = 512 << 10
  assert.ok((await askedIn(t, scrape)) > bytes / stepBytes, 'laid out in steps')
  await report(2)
  // Nobody gave the pages of the first scrape back: they are copied.
  assert.ok((await askedIn(t, scrape)) > bytes / (8 * stepBytes), 'copied in steps')
  assert.ok(bytes > 20_000 * count)
  // Comparing each with all takes several seconds.
  assert.ok(process.threadCpuUsage().user - user < 2_000_000)
})
