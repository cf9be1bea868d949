import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PrometheusRig } from '../../test/prometheus-rig.ts'
import { counter, createSource, defineType, label } from '../index.ts'
import { sourceFilter } from './source-tags.ts'

const port = defineType('port', '', { device: label(), rx_total: counter('u64') })

test('sources with one of the tags pass; without a tag, `counters` and the name stand for it; no tags are all', () => {
  const passing = (...tags: string[]) => ['', 'jobs', 'links'].filter((tag) => sourceFilter(tags)({ id: 'nic', tag }))
  assert.deepEqual(passing(), ['', 'jobs', 'links'])
  assert.deepEqual(passing('counters'), [''])
  assert.deepEqual(passing('jobs', 'counters'), ['', 'jobs'])
  assert.deepEqual(passing('nic', 'links'), ['', 'links'])
  assert.deepEqual(passing('job', 'ni'), [])
})

test('the Prometheus view shows and counts only what is for it', async () => {
  const rig = new PrometheusRig({ sourceTags: ['jobs'] })
  for (const tag of ['jobs', '', 'links']) {
    const source = createSource({ id: 's', tag, emit: (batch) => rig.view.accept(batch) })
    rig.report(source, port, { device: `of ${tag}`, rx_total: 1 })
  }
  assert.deepEqual(await rig.lines(), ['port_rx_total{device="of jobs"} 1'])
  assert.deepEqual([rig.view.stats.in, rig.view.stats.out], [1, 1])
})
