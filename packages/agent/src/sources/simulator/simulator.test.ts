import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testSource } from '../conformance.ts'
import { defaultDataSources } from '../data-sources.ts'
import { nvmlGpuType, nvmlProfileType } from '../nvml/type.ts'
import { rdmaHwType, rdmaPortCountersType, rdmaPortType } from '../rdma/type.ts'
import { SOURCES } from '../registry.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { checkRecord, dataOf } from '../test-records.ts'
import { NODE_CLASSES } from './classes/classes.ts'
import { CLASS_NAMES, SCENARIO_NAMES } from './names.ts'
import { SCENARIOS } from './scenarios/scenarios.ts'
import { simulator } from './simulator.ts'
import { numberOf, TestReport } from './test-report.ts'

const START_S = 2.7e7

testSource(simulator, { options: { node_class: 'dpu-host' } })

describe('simulator', () => {
  for (const { name } of NODE_CLASSES) {
    test(`${name}: every record is sound, and every value that is absent has a reason`, async (t) => {
      const tested = new TestedSource(simulator, new TestNode(t).paths, { node_class: name })
      await tested.source.sample()
      const taken = dataOf(tested.take())
      assert.ok(taken.length > 0)
      for (const { type, record } of taken) checkRecord(tested, type, record)
      await tested.source.close()
    })
  }

  test('runs only where it is asked for, and marks what it says', () => {
    assert.ok(SOURCES.includes(simulator))
    assert.ok(!defaultDataSources().some(({ type }) => type === simulator.name))
    assert.deepEqual(simulator.labels, { simulated: 'true' })
  })

  test('the configuration accepts exactly the names that exist', () => {
    assert.deepEqual(
      NODE_CLASSES.map(({ name }) => name),
      CLASS_NAMES,
    )
    assert.deepEqual(
      SCENARIOS.map(({ name }) => name),
      SCENARIO_NAMES,
    )
  })

  test('the same seed gives the same bytes, another seed others', () => {
    const bytesOf = (seed: number) => {
      const report = new TestReport({ seed })
      return [0, 1, 2.5, 700].map((after) => report.bytesAt(START_S + after))
    }
    for (const [sample, bytes] of bytesOf(3).entries()) {
      assert.ok(bytes === bytesOf(3)[sample])
      assert.ok(bytes !== bytesOf(4)[sample])
    }
  })

  test('a moment has the same bytes whatever was reported before it', () => {
    const [every, leaping] = [new TestReport({}), new TestReport({})]
    for (let second = 0; second < 5; second++) every.at(START_S + second)
    leaping.at(START_S + 4000)
    assert.ok(leaping.bytesAt(START_S + 4) === every.bytesAt(START_S + 4))
  })

  test('a GPU that is lost takes its series along, and comes back', () => {
    const report = new TestReport({
      effects: [{ spans: [{ fromS: START_S + 1, toS: START_S + 3, gpus: { 2: { state: 'lost' } } }] }],
    })
    const gpus = (after: number) =>
      [
        ...report
          .at(START_S + after)(nvmlGpuType)
          .keys(),
      ].map((key) => key.split('/')[0])
    assert.equal(gpus(0).length, 8)
    assert.deepEqual(gpus(2), ['0', '1', '3', '4', '5', '6', '7'])
    assert.equal(gpus(4).length, 8)
  })

  test('a healthy node has what looks like trouble and is none', () => {
    const report = new TestReport({})
    let [capped, missed, wraps] = [0, 0, 0]
    let requests = new Map<string, number>()
    const [first, last] = [report.at(START_S)(rdmaHwType), report.at(START_S + 3600)(rdmaHwType)]
    for (let second = 0; second <= 3600; second += 1) {
      const records = report.at(START_S + second)
      if (second % 60 < 1) {
        for (const record of records(nvmlGpuType).values())
          capped += numberOf(record, 'clocks_event_reasons') & 4 ? 1 : 0
      }
      missed += 8 - records(nvmlProfileType).size
      const now = new Map(
        [...records(rdmaHwType)].map(([key, one]) => [key, numberOf(one, 'rx_write_requests_total') % 2 ** 32]),
      )
      for (const [key, value] of now) wraps += value < (requests.get(key) ?? 0) ? 1 : 0
      requests = now
    }
    assert.ok(capped > 100, 'power limit bits')
    assert.equal(missed, 60, 'one missed sample a minute')
    assert.ok(wraps >= 0 && wraps <= 3, `${wraps} counters of 32 bits wrapped in an hour`)
    const gain = (field: string) => numberOf(last.get('mlx5_0/1'), field) - numberOf(first.get('mlx5_0/1'), field)
    assert.ok(gain('np_ecn_marked_roce_packets_total') > 0)
    const ports = report.at(START_S)(rdmaPortType)
    const counters = report.at(START_S)(rdmaPortCountersType)
    assert.equal(numberOf(counters.get('mlx5_2/1'), 'excessive_buffer_overrun_errors_total'), 15)
    assert.equal(numberOf(counters.get('mlx5_6/1'), 'link_downed_total'), 255)
    assert.equal(ports.get('mlx5_6/1')?.saturated, 'link_downed')
  })
})
