import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { ExplainWalk } from '@sonde/sdk/api'
import { needs } from '../../../../../test/debian.ts'
import { DocaDouble, type DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { serveAgent } from '../../../test/served-agent.ts'
import { testSource } from '../conformance.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { docaTelemetryAdpRetx } from './doca-telemetry-adp-retx.ts'
import { docaAdpRetxTimeoutsType, TIMEOUT_EDGES } from './type.ts'

const NEEDS = needs('cc')
const SECOND_NS = 1_000_000_000n

const suite = NEEDS.skip === false ? new DocaDouble({ after }) : undefined
suite?.play({ mlx5_0: { bins: [1] } })

testSource(docaTelemetryAdpRetx, { ...NEEDS, paths: { doca_library: suite?.folder ?? '' } })

/** An agent that reads a double, whose clocks stand still. */
async function bringUp(
  t: TestContext,
  devices: Readonly<Record<string, DoubleDevice>>,
  faults: string[] = [],
  files: Readonly<Record<string, string>> = {},
) {
  const double = new DocaDouble(t)
  double.play(devices, faults)
  double.setElapsed(SECOND_NS)
  const node = new TestNode(t)
  for (const [path, text] of Object.entries(files)) node.write(path, text)
  const paths = { ...node.paths, doca_library: double.folder }
  const { agent, address } = await serveAgent(t, { sources: [docaTelemetryAdpRetx], paths })
  const scrape = async () => {
    const text = await (await fetch(`${address}/metrics`)).text()
    // Leading zeros are padding.
    return text.split('\n').map((line) => line.replace(/ 0+(?=\d)/, ' '))
  }
  const of = async (metric: string) => (await scrape()).filter((line) => line.startsWith(`doca_adp_retx_${metric}`))
  return { double, agent, address, scrape, of, node }
}

test('a histogram has the edges of the device, and counts from when it was opened', NEEDS, async (t) => {
  const { double, of, scrape } = await bringUp(t, { mlx5_0: { bins: [100, 0, 7] }, mlx5_1: { bins: [1] } })
  await until('both are read', async () => (await of('packets')).length === 2)
  assert.ok((await of('timeout_seconds_bucket')).every((line) => line.endsWith(' 0')))
  double.setElapsed(11n * SECOND_NS)
  await until('they have counted', async () => (await of('packets')).every((line) => !line.endsWith(' 0')))
  assert.deepEqual(
    (await of('timeout_seconds_bucket')).filter((line) =>
      /mlx5_0.*le="(0.0001|0.0002|0.0004|1.6384|\+Inf)"/.test(line),
    ),
    ['0.0001"} 1000', '0.0002"} 1000', '0.0004"} 1070', '1.6384"} 1070', '+Inf"} 1070'].map(
      (end) => `doca_adp_retx_timeout_seconds_bucket{rdma_device="mlx5_0",simulated="true",le="${end}`,
    ),
  )
  assert.deepEqual((await of('packets')).sort(), [
    'doca_adp_retx_packets{device="mlx5_0",origin="timeouts",simulated="true"} 1070',
    'doca_adp_retx_packets{device="mlx5_1",origin="timeouts",simulated="true"} 10',
  ])
  assert.ok((await scrape()).every((line) => !/_bytes|_rtt/.test(line) || !line.startsWith('doca_')))
})

test(
  'devices with other bins share the metric; a program that changes the bins starts new series',
  NEEDS,
  async (t) => {
    const coarse = { bins: [4], facts: { max_bins: 4, time_units: 8 } }
    const { double, of } = await bringUp(t, { mlx5_0: { bins: [1] }, mlx5_1: coarse })
    const edges = async (device: string) =>
      (await of('timeout_seconds_bucket'))
        .filter((line) => line.includes(device))
        .map((line) => line.replace(/.*le="([^"]*)".*/, '$1'))
    await until('both are read', async () => (await of('packets')).length === 2)
    assert.equal((await edges('mlx5_0')).length, 16)
    assert.deepEqual(await edges('mlx5_1'), ['0.001', '0.002', '0.004', '+Inf'])
    // Another program sets fixed bins of 2 and then 3 ms.
    double.play({ mlx5_0: { bins: [1] }, mlx5_1: { ...coarse, changed: [1, 3, 2, 3, 0, 8] } })
    await until('the bins are others', async () => (await edges('mlx5_1')).join() === '0.002,0.005,+Inf')
    assert.equal((await edges('mlx5_0')).length, 16)
  },
)

test('counts of changed bins are in the new bins at once, and in no old bin', NEEDS, async (t) => {
  const double = new DocaDouble(t)
  const tested = new TestedSource(docaTelemetryAdpRetx, { ...new TestNode(t).paths, doca_library: double.folder })
  t.after(() => tested.source.close())
  const counts = async (at: bigint, device: DoubleDevice) => {
    double.setElapsed(at * SECOND_NS)
    double.play({ mlx5_0: device })
    await tested.source.sample()
    return tested
      .take()
      .filter(({ type }) => type.name === docaAdpRetxTimeoutsType.name)
      .map(({ type, record }) => [
        type.layout.slots.find(({ name }) => name === 'seconds')?.field.edges,
        record.seconds,
      ])
  }
  const none = Array<bigint>(16).fill(0n)
  assert.deepEqual(await counts(0n, {}), [[[...TIMEOUT_EDGES], none]])
  for (let second = 1n; second < 4n; second++) assert.deepEqual((await counts(second, {}))[0]?.[1], none)
  const coarse = { changed: [1, 3, 2, 3, 0, 8], bins: [4, 0, 1] } as const
  assert.deepEqual(await counts(4n, coarse), [
    [
      [0.002, 0.005],
      [4n, 0n, 1n],
    ],
  ])
  const fine = { changed: [2, 4, 1, 1, 0, 8], bins: [3, 2, 1, 4] } as const
  assert.deepEqual(await counts(5n, fine), [
    [
      [0.001, 0.002, 0.003],
      [3n, 2n, 1n, 4n],
    ],
  ])
  assert.deepEqual(await counts(6n, fine), [
    [
      [0.001, 0.002, 0.003],
      [6n, 4n, 2n, 8n],
    ],
  ])
})

test('a lost origin ends its series; metrics, log and explain name both origins and the reason', NEEDS, async (t) => {
  const folder = 'sys/class/infiniband/mlx5_0/ports/1/hw_counters'
  const { of, node, scrape, address } = await bringUp(t, { mlx5_0: { bins: [1] } }, [], {
    [`${folder}/roce_adp_retrans`]: '7\n',
  })
  const origins = async () => (await of('packets')).map((line) => line.replace(/.*origin="([^"]*)".*/, '$1')).join()
  await until('the driver counts', async () => (await origins()) === 'roce_adp_retrans')
  node.remove(`${folder}/roce_adp_retrans`)
  await until('the histogram counts', async () => (await origins()) === 'timeouts')
  const reason = /roce_adp_retrans no longer has it \(.* is not there\), so timeouts serves it/
  const change = async () => (await scrape()).find((line) => line.startsWith('sonde_origin_changes_total{'))
  await until('the change is a metric', async () => (await change()) !== undefined)
  assert.match((await change()) ?? '', reason)
  assert.match((await change()) ?? '', /origin="timeouts",previous="roce_adp_retrans".* 1$/)
  const answer = await fetch(`${address}/api/v1/explain?of=doca_adp_retx_packets`)
  const { links } = (await answer.json()) as ExplainWalk
  const words = links.find(({ name }) => name === 'origin')?.answer ?? ''
  assert.match(words, /^timeouts \(histogram\); mlx5_0: timeouts instead of roce_adp_retrans, [\d.]+ s ago: /)
  assert.match(words, reason)
})
