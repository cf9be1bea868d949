import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { longestTurnMs } from '../../../test/turns.ts'
import {
  absenceType,
  defineType,
  type Fields,
  gauge,
  label,
  labelNumber,
  type RecordOf,
  type RecordType,
  wallNs,
} from '../../index.ts'
import { turn } from '../../internal/turn.ts'

/**
 * Many times what a turn takes, and a fraction of what the same work takes in one. Unit: milliseconds of processor
 * time.
 */
const TURN_MS = 60

/** How often some work asks for turns. */
async function askedIn(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const isOver = t.mock.method(turn, 'isOver')
  await work()
  isOver.mock.restore()
  return isOver.mock.callCount()
}

/** A type with many fields, and a record of it. */
function wide(name: string, fieldCount: number) {
  const names = Array.from({ length: fieldCount }, (_, i) => `f${i}`)
  const fields: Fields = { device: label(), ...Object.fromEntries(names.map((field) => [field, gauge('u64')])) }
  const type = defineType(name, 'A wide type', fields) as RecordType
  return { type, record: { device: 'a', ...Object.fromEntries(names.map((field, i) => [field, i])) } }
}

const absence = (i: number, reason: string, field = '') => {
  return { time: wallNs(), type: 'wide', series: `device="d${i}"`, field, code: 'denied', reason }
}

test('thousands of absences of a type with hundreds of fields are shown in turns, each field with its own', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const { type, record } = wide('wide', 200)
  rig.report(source, type, record)
  rig.report(source, absenceType, absence(0, 'no f7', 'f7'))
  rig.report(source, absenceType, ...Array.from({ length: 5000 }, (_, i) => absence(i, 'not for us')))
  rig.report(source, absenceType, absence(7, 'no f7', 'f7'))
  await rig.view.flush()
  let page = ''
  const longestMs = await longestTurnMs(async () => {
    page = await rig.page('text')
  })
  const shown = Array.from({ length: 17 }, (_, i) => `device="d${i}"`).join('; ')
  const all = `Absent for ${shown} and 4983 more: not for us.`
  assert.match(page, new RegExp(`^# HELP wide_f6 A wide type: f6\\. ${all}$`, 'm'))
  assert.match(page, new RegExp(`^# HELP wide_f7 .*: f7\\. Absent for device="d0"; device="d7": no f7\\. ${all}$`, 'm'))
  assert.ok(longestMs < TURN_MS, `${longestMs} ms`)
})

test('reasons, series and help that are full of stops are read in linear time', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const stops = `${'.'.repeat(4090)}x`
  const type = defineType('wide', '', { device: label(), f: gauge('u64', { help: stops }) })
  rig.report(source, type, { device: 'a', f: 1 })
  const absences = Array.from({ length: 100 }, (_, i) => {
    return { ...absence(i, `${i}${stops}`), series: `${i}${stops}` }
  })
  const longestMs = await longestTurnMs(async () => {
    rig.report(source, absenceType, ...absences)
    await rig.view.flush()
    assert.match(await rig.page('text'), /x\. Absent for 100 more reasons\.$/m)
  })
  assert.ok(longestMs < TURN_MS, `${longestMs} ms`)
})

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
