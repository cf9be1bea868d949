import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { property } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { Random } from '../../../test/random.ts'
import { counter, defineType, label, type Source } from '../../index.ts'
import { absenceType, droppedTotal, seriesKey } from '../../internal/index.ts'
import { turn } from '../../internal/turn.ts'
import { MetricTable } from './metric-table.ts'

const METRIC = 'shared_total'
const TYPES = ['one', 'two'].map((name) =>
  defineType(name, '', { device: label(), shared_total: counter('u64', { metric: METRIC }), own_total: counter('u8') }),
)
const DEVICES = ['a', 'b', 'c', 'd']
const EXPIRY_S = 300

/** The reporters of series, with their last values. */
interface Reporter {
  readonly source: Source
  readonly type: (typeof TYPES)[number]
  readonly device: string
  value: number
}

function report(rig: PrometheusRig, { source, type, device, value }: Reporter): void {
  rig.report(source, type, { device, shared_total: value, own_total: 1 })
}

function say(rig: PrometheusRig, { source, type, device }: Reporter, code: string): void {
  const series = seriesKey({ device })
  rig.report(source, absenceType, {
    time: 1_800_000_000_000_000_000n,
    type: type.name,
    series,
    field: '',
    code,
    reason: 'a test',
  })
}

/**
 * Changes the reporters: a new series, another value, a gone series, a removed source, or silence until all series
 * expire.
 */
function changeSomething(random: Random, rig: PrometheusRig, sources: readonly Source[], live: Reporter[]): void {
  const some = live.length === 0 ? undefined : random.pick(live)
  const chance = random.next()
  if (chance < 0.6 || some === undefined) {
    const [source, type, device] = [random.pick(sources), random.pick(TYPES), random.pick(DEVICES)] as const
    const known = live.find((one) => one.source === source && one.type === type && one.device === device)
    const reporter = known ?? { source, type, device, value: 0 }
    reporter.value = random.integer(0, 1e9)
    if (known === undefined) live.push(reporter)
    report(rig, reporter)
  } else if (chance < 0.8) {
    live.splice(live.indexOf(some), 1)
    say(rig, some, 'gone')
  } else if (chance < 0.95) {
    rig.view.removeSource(some.source.info)
    live.splice(0, live.length, ...live.filter(({ source }) => source !== some.source))
  } else {
    rig.nowMs += EXPIRY_S * 1000
    live.length = 0
  }
}

property(
  'a series is shown once while anyone reports it, with what one of them said last, and no longer',
  60,
  async (random) => {
    const rig = new PrometheusRig({ seriesExpiryS: EXPIRY_S })
    const sources = ['x', 'y', 'z'].map((id) => rig.source(id))
    const live: Reporter[] = []
    for (let step = 0; step < 20; step++) {
      for (let i = random.integer(1, 4); i > 0; i--) changeSomething(random, rig, sources, live)
      if (random.chance(0.5)) await rig.families('text')
      // A hidden row is shown with its next record after the row before it has left.
      for (const reporter of live) report(rig, reporter)
      await rig.families('openmetrics')
      for (const reporter of live) report(rig, reporter)
      const shown = (await rig.families('text')).get(METRIC)?.samples ?? []
      const devices = [...new Set(live.map(({ device }) => device))].sort()
      assert.deepEqual(shown.map(({ labels }) => labels.device ?? '').sort(), devices)
      for (const { labels, value } of shown) {
        const said = live.filter(({ device }) => device === labels.device).map((reporter) => reporter.value)
        assert.ok(said.includes(Number(value)), `${value} for ${labels.device}; said: ${said}`)
      }
      assert.equal(rig.view.stats.in, rig.view.stats.out + droppedTotal(rig.view.stats))
    }
  },
)

/** A view to which something happened; the same for the same seed. */
async function viewAfter(seed: number, changes: number) {
  const random = new Random(seed)
  const rig = new PrometheusRig({ seriesExpiryS: EXPIRY_S })
  const sources = ['x', 'y', 'z'].map((id) => rig.source(id))
  const live: Reporter[] = []
  for (let i = 0; i < changes; i++) {
    if (i % 4 === 0) await rig.lines()
    changeSomething(random, rig, sources, live)
  }
  return { rig, change: () => changeSomething(random, rig, sources, live) }
}

property('a scrape shows the moment in which it began, whatever changes between its turns', 60, async (random) => {
  const [seed, changes] = [random.integer(0, 1e9), random.integer(1, 30)]
  const quiet = await viewAfter(seed, changes)
  const busy = await viewAfter(seed, changes)
  const wanted = await quiet.rig.lines()
  // Once the moment is fixed, every other question finds the turn over.
  let asked = 0
  const begin = mock.method(MetricTable.prototype, 'begin')
  const isOver = mock.method(turn, 'isOver', () => begin.mock.callCount() > 0 && asked++ % 2 === 0)
  let isShown = false
  const lines = busy.rig.lines().finally(() => {
    isShown = true
  })
  for (let i = 0; !isShown; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (i < 30) busy.change()
  }
  isOver.mock.restore()
  begin.mock.restore()
  assert.deepEqual((await lines).sort(), wanted.sort())
})
