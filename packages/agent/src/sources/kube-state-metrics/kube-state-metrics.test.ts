import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { ReadRecord } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { testSource } from '../conformance.ts'
import { podInfoType } from '../pods/type.ts'
import { fixture, type ServedExporter, serveExporter, withBody } from '../scraping/test-exporter.ts'
import { type ReportedRecord, TestedSource, TestNode } from '../test-node.ts'
import { kubeStateMetrics } from './kube-state-metrics.ts'

const CLUSTER = fixture('cluster', 'kube-state-metrics')

const shared = await serveExporter(CLUSTER)
after(() => shared.close())
testSource(kubeStateMetrics, { options: { addresses: [shared.address] } })

async function bringUp(t: TestContext, body: string): Promise<{ tested: TestedSource; served: ServedExporter }> {
  const served = await serveExporter(body)
  const tested = new TestedSource(kubeStateMetrics, new TestNode(t).paths, { addresses: [served.address] })
  t.after(async () => {
    await tested.source.close()
    served.close()
  })
  return { tested, served }
}

const podsOf = (taken: readonly ReportedRecord[]): ReadRecord[] =>
  taken.filter(({ type }) => type === podInfoType).map(({ record }) => record)

const namesOf = (taken: readonly ReportedRecord[]) =>
  podsOf(taken)
    .map(({ pod }) => pod)
    .sort()

test('pods that ask for GPUs, with app, service, node and start; others and finished pods are left out', async (t) => {
  const { tested } = await bringUp(t, CLUSTER)
  await tested.source.sample()
  assert.deepEqual(tested.failures, [])
  const names = ['namespace', 'pod', 'app', 'service', 'node_name', 'requested_gpus', 'start_time_seconds', 'via']
  const found = podsOf(tested.take())
    .map((record) => names.map((name) => record[name]))
    .sort()
  assert.deepEqual(found, [
    ['inference', 'llama-7d9c-x2x4p', 'llama', 'chat', 'gpu-node-a', 1, 1767225000, 'kube-state-metrics'],
    ['inference', 'llama-7d9c-zz9q1', 'llama', 'chat', '', 1, undefined, 'kube-state-metrics'],
    ['training', 'trainer-0', 'trainer', '', 'gpu-node-a', 2, 1767220000, 'kube-state-metrics'],
    ['vision', 'segment-a', 'segment', 'batch', 'gpu-node-b', 1, 1767215000, 'kube-state-metrics'],
  ])
})

test('a pod that is scheduled, and one that finishes, change at the next scrape', async (t) => {
  const { tested, served } = await bringUp(t, CLUSTER)
  await tested.source.sample()
  tested.take()
  const later = CLUSTER.replaceAll(
    'uid="a2",container="server",node=""',
    'uid="a2",container="server",node="gpu-node-c"',
  )
    .replace('uid="a3",phase="Running"} 1', 'uid="a3",phase="Running"} 0')
    .replace('uid="a3",phase="Failed"} 0', 'uid="a3",phase="Failed"} 1')
  served.answer = withBody(later)
  await tested.source.sample()
  const taken = tested.take()
  assert.deepEqual(namesOf(taken), ['llama-7d9c-x2x4p', 'llama-7d9c-zz9q1', 'segment-a'])
  assert.equal(podsOf(taken).find(({ pod }) => pod === 'llama-7d9c-zz9q1')?.node_name, 'gpu-node-c')
  const gone = taken.filter(({ type, record }) => type === absenceType && record.code === 'gone')
  assert.equal(gone.length, 1)
  assert.match(String(gone[0]?.record.series), /trainer-0/)
})

test('a number that cannot be costs the field of its pod, with the reason, and no other pod', async (t) => {
  for (const value of ['0.5', '1e308', '+Inf', 'NaN', '4294967296.5']) {
    const { tested } = await bringUp(
      t,
      CLUSTER.replace(/(kube_pod_.*uid="a3".*nvidia_com_gpu.*\}) .*$/m, `$1 ${value}`),
    )
    await tested.source.sample()
    const taken = tested.take()
    assert.deepEqual(namesOf(taken), ['llama-7d9c-x2x4p', 'llama-7d9c-zz9q1', 'segment-a', 'trainer-0'], value)
    assert.equal(podsOf(taken).find(({ pod }) => pod === 'trainer-0')?.requested_gpus, undefined)
    const reasons = taken.filter(({ type }) => type === absenceType).map(({ record }) => String(record.reason))
    assert.ok(
      reasons.some((reason) => /was reported, which is impossible|were reported; pods ask for whole ones/.test(reason)),
      `${value}: ${reasons}`,
    )
  }
})

test('of two pods of one name, as while one is replaced, the later counts', async (t) => {
  const both = CLUSTER.split('\n')
    .flatMap((line) => (line.includes('uid="a1"') ? [line, line.replace('uid="a1"', 'uid="b1"')] : [line]))
    .join('\n')
    .replace(/(uid="b1"\}) 1\.767225\d*e\+09/, '$1 1.767229000e+09')
  const { tested } = await bringUp(t, both)
  await tested.source.sample()
  const found = podsOf(tested.take()).filter(({ pod }) => pod === 'llama-7d9c-x2x4p')
  assert.deepEqual(
    found.map(({ requested_gpus, start_time_seconds }) => [requested_gpus, start_time_seconds]),
    [[1, 1767229000]],
  )
})

test('behind a Prometheus that renamed labels the pod is that of the series', async (t) => {
  const renamed = CLUSTER.replace(
    /\{namespace="([^"]*)",pod="([^"]*)",/g,
    '{namespace="kube-system",pod="kube-state-metrics-0",exported_namespace="$1",exported_pod="$2",',
  )
  const { tested } = await bringUp(t, renamed)
  await tested.source.sample()
  assert.deepEqual(namesOf(tested.take()), ['llama-7d9c-x2x4p', 'llama-7d9c-zz9q1', 'segment-a', 'trainer-0'])
})

test('a cluster whose pods ask for no GPU is read, and has none', async (t) => {
  const { tested } = await bringUp(t, CLUSTER.replaceAll(/^.*nvidia_com.*\n/gm, ''))
  assert.equal((await tested.source.probe()).state, 'present')
  await tested.source.sample()
  assert.deepEqual(namesOf(tested.take()), [])
})

for (const [name, answer, reason] of [
  ['an empty body', withBody(''), /without a series/],
  ['an error', (_, response) => void response.writeHead(500).end('no'), /answers 500/],
  ['another exporter', withBody('node_load1 0.5\n'), /without a series of a pod; is it a kube-state-metrics/],
] as const satisfies readonly (readonly [string, ServedExporter['answer'], RegExp])[]) {
  test(`after ${name} the pods are not known, with the reason, and not gone`, async (t) => {
    const { tested, served } = await bringUp(t, CLUSTER)
    await tested.source.sample()
    tested.take()
    served.answer = answer
    await assert.rejects(tested.source.sample(), { code: 'SRC_SCRAPE', message: reason })
    const said = tested.take().filter(({ type }) => type === absenceType)
    assert.deepEqual(
      said.map(({ record }) => record.code),
      ['failed', 'failed', 'failed', 'failed'],
    )
  })
}
