// What is shown when a source goes on with a new table of labels.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { property } from '../../../test/helper.ts'
import { PrometheusRig } from '../../../test/prometheus-rig.ts'
import { counter, createSource, defineType, label, type Source } from '../../index.ts'
import { absenceType, droppedTotal, seriesKey } from '../../internal/index.ts'

const type = defineType('pod', '', {
  pod: label(),
  node: label(),
  work_total: counter('u64', { metric: 'work_total' }),
})

/** A source whose table of labels is small. */
function churning(rig: PrometheusRig, symbolLimit: number): Source {
  return createSource({ id: 'churn', symbolLimit, emit: (batch) => rig.view.accept(batch) })
}

/** What a scrape shows, by pod. */
async function shown(rig: PrometheusRig): Promise<Map<string, number>> {
  const samples = (await rig.families('text')).get('work_total')?.samples ?? []
  assert.equal(new Set(samples.map(({ labels }) => labels.pod)).size, samples.length, 'a series is shown once')
  return new Map(samples.map(({ labels, value }) => [labels.pod ?? '', Number(value)]))
}

property(
  'a full table shows neither a gap nor a duplicate: each series has its last value until it leaves',
  40,
  async (random) => {
    const rig = new PrometheusRig({ seriesExpiryS: 300 })
    const source = churning(rig, random.pick([8, 20]))
    const told = new Map<string, number>()
    for (let step = 0; step < 300; step++) {
      const pod = `p${random.integer(0, 29)}`
      if (random.chance(0.1)) {
        say(rig, source, pod)
        told.delete(pod)
      } else {
        told.set(pod, step)
        rig.report(source, type, { pod, node: 'n0', work_total: step })
      }
      if (random.chance(0.1)) assert.deepEqual(sorted(await shown(rig)), sorted(told))
    }
    assert.equal(droppedTotal(rig.view.stats), 0)
    assert.equal(rig.view.seriesCount, told.size)
    rig.view.removeSource(source.info)
    assert.deepEqual(await shown(rig), new Map())
  },
)

test('a limit of series is one for a source and those that it replaces', async () => {
  const rig = new PrometheusRig({ seriesLimit: 10 })
  const source = churning(rig, 12)
  for (let round = 0; round < 20; round++) {
    for (let pod = 0; pod < 10; pod++) rig.report(source, type, { pod: `p${pod}`, node: 'n0', work_total: round })
  }
  assert.deepEqual([...(await shown(rig)).values()], Array(10).fill(19))
  assert.equal(droppedTotal(rig.view.stats), 0)
})

function say(rig: PrometheusRig, source: Source, pod: string): void {
  const series = seriesKey({ pod, node: 'n0' })
  rig.report(source, absenceType, {
    time: 1_800_000_000_000_000_000n,
    type: type.name,
    series,
    field: '',
    code: 'gone',
    reason: 'a test',
  })
}

function sorted(map: ReadonlyMap<string, number>): [string, number][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

test('rows of sources that were replaced keep the labels that they use, and not the tables', async () => {
  const rig = new PrometheusRig()
  const source = churning(rig, 12)
  const tables: WeakRef<object>[] = []
  for (let step = 0; step < 200; step++) {
    rig.report(source, type, { pod: `p${step}`, node: 'n0', work_total: step })
    tables.push(new WeakRef(source.info.symbols))
  }
  await new Promise((resolve) => setImmediate(resolve))
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const kept = new Set(tables.map((table) => table.deref()).filter((table) => table !== undefined))
  assert.ok(kept.size <= 2, `${kept.size} tables`)
  assert.equal((await shown(rig)).size, 200)
  say(rig, source, 'p3')
  assert.equal((await shown(rig)).has('p3'), false)
})

/** A source in a life of its host. */
function livingSource(rig: PrometheusRig, owner: object, life: number): Source {
  const source: Source = createSource({ id: 'child', emit: (batch) => rig.view.accept({ ...batch, source: info }) })
  const info = { ...source.info, owner, life }
  return source
}

test('a whole type that is gone takes what one life of a host and those before it reported', async () => {
  const rig = new PrometheusRig()
  const owner = {}
  const lives = [0, 1, 2].map((life) => livingSource(rig, owner, life))
  const [first, second, third] = lives as [Source, Source, Source]
  for (const pod of ['p0', 'p1', 'p2']) rig.report(first, type, { pod, node: 'n0', work_total: 1 })
  for (const pod of ['p1', 'p2']) rig.report(second, type, { pod, node: 'n0', work_total: 2 })
  rig.report(third, type, { pod: 'p2', node: 'n0', work_total: 3 })
  const absence = { time: 1_800_000_000_000_000_000n, type: type.name, series: '', field: '' }
  rig.report(second, absenceType, { ...absence, code: 'gone', reason: 'a test' })
  assert.deepEqual(sorted(await shown(rig)), [['p2', 3]])
  rig.report(third, absenceType, { ...absence, code: 'gone', reason: 'a test' })
  assert.deepEqual(await shown(rig), new Map())
})
