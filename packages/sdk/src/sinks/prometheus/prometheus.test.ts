import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { buckets, counter, createPrometheus, defineType, gauge, label, SondeError, type Source } from '../../index.ts'
import { absenceType, droppedTotal, seriesKey } from '../../internal/index.ts'
import { turn } from '../../internal/turn.ts'
import { Families } from './families.ts'

const port = defineType('port', 'Counters of a port', {
  device: label(),
  rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
})
const metric = 'port_rx_bytes_total'
const line = (device: string, value: number | string) => `${metric}{device="${device}"} ${value}`

function reportGone(rig: PrometheusRig, source: Source, device: string): void {
  const series = seriesKey({ device })
  rig.report(source, absenceType, {
    time: 1_800_000_000_000_000_000n,
    type: 'port',
    series,
    field: '',
    code: 'gone',
    reason: 'unplugged',
  })
}

function checkBalance({ view }: PrometheusRig): void {
  assert.equal(view.stats.in, view.stats.out + droppedTotal(view.stats), 'in = out + dropped')
}

test('a series without a record for 300 s leaves, and one that has records stays', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, port, { device: 'eth0', rx_bytes_total: 1 }, { device: 'eth1', rx_bytes_total: 2 })
  rig.nowMs += 200_000
  rig.report(source, port, { device: 'eth1', rx_bytes_total: 2 })
  rig.nowMs += 99_999
  assert.deepEqual(await rig.lines(), [line('eth0', 1), line('eth1', 2)])
  rig.nowMs += 1
  assert.deepEqual(await rig.lines(), [line('eth1', 2)])
  rig.nowMs += 200_000
  assert.equal(await rig.page('text'), '')
  assert.equal(rig.view.seriesCount, 0)
  rig.report(source, port, { device: 'eth0', rx_bytes_total: 9 })
  assert.deepEqual(await rig.lines(), [line('eth0', 9)])
})

test('a series leaves at once when its source says that it is gone, and comes back with its next record', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  rig.report(source, port, { device: 'eth0', rx_bytes_total: 1 }, { device: 'eth1', rx_bytes_total: 2 })
  await rig.lines()
  reportGone(rig, source, 'eth0')
  assert.deepEqual(await rig.lines(), [line('eth1', 2)])
  rig.report(source, port, { device: 'eth0', rx_bytes_total: 3 })
  assert.deepEqual((await rig.lines()).sort(), [line('eth0', 3), line('eth1', 2)])
})

test('all series of a source leave at once when it is removed; those of others stay', async () => {
  const rig = new PrometheusRig()
  const [first, second] = [rig.source('a'), rig.source('b')]
  rig.report(first, port, { device: 'eth0', rx_bytes_total: 1 }, { device: 'eth1', rx_bytes_total: 2 })
  rig.report(second, port, { device: 'eth2', rx_bytes_total: 3 })
  rig.view.removeSource(first.info)
  assert.deepEqual(await rig.lines(), [line('eth2', 3)])
})

test('records of series past the limit of their type are dropped and counted; known series and other types go on', async () => {
  const rig = new PrometheusRig({ seriesLimit: 2 })
  const other = defineType('other', '', { depth: gauge('u8') })
  const source = rig.source()
  for (const device of ['eth0', 'eth1', 'eth2', 'eth0']) rig.report(source, port, { device, rx_bytes_total: 1 })
  rig.report(source, other, { depth: 1 })
  assert.equal(rig.dropped('series_limit'), 1)
  assert.deepEqual(await rig.lines(), [line('eth0', 1), line('eth1', 1), 'other_depth 1'])
  reportGone(rig, source, 'eth0')
  rig.report(source, port, { device: 'eth2', rx_bytes_total: 1 })
  assert.deepEqual((await rig.lines()).slice(0, 2).sort(), [line('eth1', 1), line('eth2', 1)])
  checkBalance(rig)
})

test('records of series past the limit of lines are dropped and counted', async () => {
  const rig = new PrometheusRig({ lineLimit: 3 })
  for (const device of ['a', 'b', 'c', 'd', 'e']) rig.report(rig.source(), port, { device, rx_bytes_total: 1 })
  assert.equal(rig.view.seriesCount, 3)
  assert.equal(rig.dropped('line_limit'), 2)
  checkBalance(rig)
})

for (const [what, field, disagreement] of [
  ['type', gauge('u64', { unit: 'bytes', metric }), 'a gauge in bytes'],
  ['unit', counter('u64', { unit: 'packets', metric }), 'a counter in packets'],
] as const) {
  test(`of two metrics of one name with another ${what}, the first is shown; the second is refused, counted and listed`, async () => {
    const rig = new PrometheusRig()
    const second = defineType('second', '', { device: label(), bytes: field })
    const [first, late] = [rig.source('a'), rig.source('b')]
    rig.report(first, port, { device: 'eth0', rx_bytes_total: 1 })
    rig.report(late, second, { device: 'eth9', bytes: 9 }, { device: 'eth8', bytes: 8 })
    assert.deepEqual(await rig.lines(), [line('eth0', 1)])
    assert.equal(rig.view.stats.errors, 1)
    assert.equal(rig.dropped('metric_conflict'), 2)
    const [conflict] = rig.view.conflicts()
    assert.deepEqual([conflict?.metric, conflict?.type, conflict?.owner], [metric, 'second', metric])
    assert.ok(
      conflict?.reason.startsWith(
        `it is ${disagreement} (a scalar) in second, but a counter in bytes (a scalar) in port;`,
      ),
    )
    assert.equal(rig.view.causeOf('metric_conflict'), `${metric} of second.bytes: ${conflict?.reason}`)
    assert.equal((await rig.families('text')).get(metric)?.help, 'Bytes received')
    checkBalance(rig)
  })
}

test('the reason of a refusal names each type once, and says if it is another version of the same', async () => {
  const rig = new PrometheusRig()
  for (const description of ['first', 'second', 'late']) {
    const heat = description === 'late' ? counter('u64', { metric }) : gauge('u64', { metric })
    const version = defineType('ver', description, { device: label(), heat })
    rig.report(rig.source(description), version, { device: description, heat: 1 })
  }
  assert.match(
    rig.view.conflicts()[0]?.reason ?? '',
    /it is a counter without unit \(a scalar\) in ver, but a gauge without unit \(a scalar\) in another version of ver; name/,
  )
})

test('a refused metric takes the name once the first one has left', async () => {
  const rig = new PrometheusRig()
  const second = defineType('second', '', { device: label(), bytes: gauge('u64', { unit: 'bytes', metric }) })
  const late = rig.source('late')
  rig.report(rig.source(), port, { device: 'eth0', rx_bytes_total: 1 })
  for (let i = 0; i < 4; i++) {
    rig.nowMs += 100_000
    rig.report(late, second, { device: 'eth9', bytes: 9 })
    await rig.lines()
  }
  assert.deepEqual(await rig.lines(), [line('eth9', 9)])
  assert.equal((await rig.families('text')).get(metric)?.type, 'gauge')
  assert.deepEqual(rig.view.conflicts(), [])
  assert.equal(rig.view.stats.errors, 1)
})

test('types that contend for a metric leave without each asking for it whenever another leaves', async (t) => {
  const join = t.mock.method(Families.prototype, 'join')
  const rig = new PrometheusRig()
  const count = 50
  for (let i = 0; i < count; i++) {
    const version = defineType('ver', `version ${i}`, {
      device: label(),
      heat: gauge('u64', { unit: `u${i}`, metric }),
    })
    rig.report(rig.source(`s${i}`), version, { device: `d${i}`, heat: i })
    rig.nowMs += 1000
  }
  assert.deepEqual(await rig.lines(), [`${metric}{device="d0"} 0`])
  assert.equal(rig.view.conflicts().length, count - 1)
  assert.match(rig.view.conflicts()[1]?.reason ?? '', /in u2 \(a scalar\) in ver, but a gauge in u0/)
  assert.equal(join.mock.callCount(), count)
  // All but the last have had no record for 300 s.
  rig.nowMs += 298_500
  assert.deepEqual(await rig.lines(), [`${metric}{device="d49"} 49`])
  assert.equal(join.mock.callCount(), count + 1)
  assert.deepEqual(rig.view.conflicts(), [])
})

test('a type of which the last source leaves is forgotten at once, also where nobody scrapes', async () => {
  const rig = new PrometheusRig()
  const second = defineType('second', '', { device: label(), bytes: gauge('u64', { unit: 'bytes', metric }) })
  const [first, late] = [rig.source('a'), rig.source('b')]
  rig.report(first, port, { device: 'eth0', rx_bytes_total: 1 })
  rig.report(late, second, { device: 'eth9', bytes: 9 })
  assert.equal(rig.view.conflicts().length, 1)
  rig.view.removeSource(first.info)
  await rig.view.flush()
  assert.deepEqual(rig.view.conflicts(), [])
  assert.deepEqual(await rig.lines(), [line('eth9', 9)])
})

test('the names of a histogram’s samples are taken too', async () => {
  const rig = new PrometheusRig()
  const wait = defineType('wait', '', {
    seconds: buckets('u32', [1]),
    other: gauge('u8', { metric: 'wait_seconds_count' }),
  })
  rig.report(rig.source(), wait, { seconds: [1, 2], other: 3 })
  const families = await rig.families('openmetrics')
  assert.deepEqual([...families.keys()], ['wait_seconds'])
  assert.match(rig.view.conflicts()[0]?.reason ?? '', /^wait_seconds_count belongs to/)
})

test('types that agree fill one metric together', async () => {
  const rig = new PrometheusRig()
  const same = defineType('same', '', { device: label(), bytes: counter('u64', { unit: 'bytes', metric }) })
  rig.report(rig.source('a'), port, { device: 'eth0', rx_bytes_total: 1 })
  rig.report(rig.source('b'), same, { device: 'eth1', bytes: 2 }, { device: 'eth0', bytes: 3 })
  assert.deepEqual(await rig.lines(), [line('eth0', 1), line('eth1', 2)], 'what comes twice is shown once')
  assert.equal(rig.dropped('duplicate_series'), 1)
  checkBalance(rig)
})

test('a series that two sources report is shown once, counted, and taken over when the first is gone', async () => {
  const rig = new PrometheusRig()
  const [first, second] = [rig.source('a'), rig.source('b')]
  rig.report(first, port, { device: 'eth0', rx_bytes_total: 1 })
  rig.report(second, port, { device: 'eth0', rx_bytes_total: 2 })
  assert.deepEqual(await rig.lines(), [line('eth0', 1)])
  assert.equal(rig.dropped('duplicate_series'), 1)
  rig.view.removeSource(first.info)
  rig.report(second, port, { device: 'eth0', rx_bytes_total: 3 })
  assert.deepEqual(await rig.lines(), [line('eth0', 3)])
  checkBalance(rig)
})

test('of several records of a series in one batch the last is shown, and each is counted', async () => {
  const rig = new PrometheusRig()
  const [first, second] = [rig.source('a'), rig.source('b')]
  const records = [1, 2, 3].flatMap((value) => ['eth0', 'eth1'].map((device) => ({ device, rx_bytes_total: value })))
  first.report(port, records)
  first.flush()
  second.report(port, [...records, { device: 'eth2', rx_bytes_total: 9 }])
  second.flush()
  assert.deepEqual(await rig.lines(), [line('eth0', 3), line('eth1', 3), line('eth2', 9)])
  assert.deepEqual([rig.view.stats.in, rig.view.stats.out, rig.dropped('duplicate_series')], [13, 7, 6])
})

/** A view whose turn of the event loop is over whenever it asks, until the function is called. */
function busyRig(t: TestContext): { rig: PrometheusRig; goOn: () => void } {
  let isBusy = true
  t.mock.method(turn, 'isOver', () => isBusy)
  return {
    rig: new PrometheusRig(),
    goOn() {
      isBusy = false
    },
  }
}

const devices = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ device: `eth${i}`, rx_bytes_total: i + 1 }))

test('many new series at once are taken in several turns, those of a source in order, and other sources do not wait', async (t) => {
  const { rig, goOn } = busyRig(t)
  const [many, other] = [rig.source('many'), rig.source('other')]
  many.report(port, devices(1000))
  many.report(port, { device: 'eth1', rx_bytes_total: 7 })
  many.flush()
  reportGone(rig, many, 'eth2')
  rig.report(other, port, { device: 'lo', rx_bytes_total: 1 })
  assert.ok(rig.view.stats.out < 100, `${rig.view.stats.out} records were taken at once`)
  goOn()
  const lines = (await rig.lines()).map((one) => one.replace(/ 0+(?=\d)/, ' '))
  assert.deepEqual([lines.length, lines.includes(line('lo', 1)), lines.includes(line('eth1', 7))], [1000, true, true])
  assert.ok(!lines.some((one) => one.includes('"eth2"')), 'what is gone after it waited is gone')
  assert.deepEqual([rig.view.stats.in, rig.view.stats.out], [1003, 1003])
})

test('what waits of a source that leaves does not come any more; what finds no room to wait is dropped and counted', async (t) => {
  const { rig, goOn } = busyRig(t)
  const [leaver, stayer] = [rig.source('leaver'), rig.source('stayer')]
  leaver.report(port, devices(1000))
  leaver.flush()
  rig.view.removeSource(leaver.info)
  for (let i = 0; i < 1200; i++) {
    stayer.report(port, devices(1000))
    stayer.flush()
  }
  goOn()
  await rig.view.flush()
  assert.equal((await rig.lines()).length, 1000)
  assert.ok(rig.dropped('waiting_limit') > 1000)
  checkBalance(rig)
})

test('a scrape and a flush wait for what came before them, not for new series that a source goes on bringing', async (t) => {
  // A turn has room for three questions: for far less than is brought in each.
  let left = 3
  t.mock.method(turn, 'isOver', () => left-- <= 0)
  t.mock.method(turn, 'next', async () => {
    await new Promise((resolve) => setImmediate(resolve))
    left = 3
  })
  const rig = new PrometheusRig()
  const [many, other] = [rig.source('many'), rig.source('other')]
  let rounds = 0
  const bring = () => {
    const round = rounds++
    rig.report(many, port, ...devices(400).map((record) => ({ ...record, device: `${round}-${record.device}` })))
  }
  bring()
  rig.report(other, port, ...devices(100))
  let lines: string[] | undefined
  const answer = Promise.all([rig.lines(), rig.view.flush()]).then(([shown]) => {
    lines = shown
  })
  while (lines === undefined && rounds < 100) {
    bring()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(rounds < 100, 'answered while there was ever more to take')
  await answer
  assert.equal(lines?.filter((one) => /"(0-)?eth/.test(one)).length, 500)
  await rig.view.close()
})

test('a record that waits for its turn has the age that it had when it came', async (t) => {
  const { rig, goOn } = busyRig(t)
  const source = rig.source()
  source.report(port, devices(1000))
  source.flush()
  rig.nowMs += 300_000
  goOn()
  assert.deepEqual(await rig.lines(), [])
})

test('what waits when the view is closed is counted as closed', async (t) => {
  const { rig } = busyRig(t)
  const source = rig.source('a')
  source.report(port, devices(1000))
  source.flush()
  await rig.view.close()
  assert.ok(rig.dropped('closed') > 900)
  checkBalance(rig)
})

test('an option out of its range is refused', () => {
  for (const options of [{ seriesExpiryS: 0 }, { seriesLimit: Number.NaN }, { lineLimit: 1e9 }]) {
    assert.throws(
      () => createPrometheus(options),
      (error) => error instanceof SondeError && error.code === 'PRM_OPTION',
    )
  }
})
