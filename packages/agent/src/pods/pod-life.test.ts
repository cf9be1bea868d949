import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { podDeviceType } from '../sources/pods/type.ts'
import { TestCluster } from './test-cluster.ts'

describe('a number holds for three periods of its source:', () => {
  for (const [intervalMs, words] of [
    [1000, 'a second'],
    [15_000, '15 seconds'],
    [0, 'a period that nobody says'],
  ] as const) {
    test(`of ${words}`, () => {
      const cluster = new TestCluster()
      const [gpus, pods] = [cluster.source({ intervalMs }), cluster.source()]
      const periodMs = intervalMs || 7000
      for (let sample = 0; sample < 12; sample++) {
        if (sample > 0) cluster.pass(periodMs)
        gpus.gpu('G0', { gpu_util: 7 })
      }
      const heldMs = Math.max(2000, periodMs) * 3
      cluster.pass(heldMs - 150)
      pods.pod('a', {}, 'G0')
      cluster.settle()
      assert.equal(cluster.pod('a')?.util_ratio, 0.07)
      assert.equal(cluster.pod('a')?.sample_age_seconds, heldMs / 1000)
      cluster.pass(100)
      pods.pod('a', {}, 'G0')
      cluster.settle()
      assert.equal(cluster.pod('a')?.util_ratio, undefined)
    })
  }

  test('a sample in two batches, and two sources in turns, make no period shorter', () => {
    const cluster = new TestCluster()
    const [one, other] = [cluster.source({ intervalMs: 0 }), cluster.source({ intervalMs: 0 })]
    for (let sample = 0; sample < 4; sample++) {
      one.pod('a', {}, 'G0')
      cluster.pass(5)
      one.pod('a', {}, 'G0')
      cluster.pass(3000)
      other.pod('a', {}, 'G0')
      cluster.settle()
      assert.ok(cluster.pod('a'))
      cluster.pass(11_000)
      cluster.settle()
      assert.deepEqual([cluster.pods.counts.pods, cluster.gone()], [1, []])
    }
  })
})

describe('rows are made', () => {
  test('once a sample, after its last batch', () => {
    const cluster = new TestCluster()
    const node = cluster.source().pod('a', {}, 'G0')
    cluster.pass(60)
    node.gpu('G0', { gpu_util: 7 })
    cluster.pass(60)
    cluster.pods.evaluate(cluster.nowMs)
    assert.equal(cluster.pod('a'), undefined, 'more of it may come')
    cluster.settle()
    assert.equal(cluster.pod('a')?.util_ratio, 0.07)
    cluster.settle()
    assert.equal(cluster.pod('a'), undefined, 'nothing new came')
  })

  test('also where batches come without a pause', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    let made = 0
    for (let tick = 0; tick < 100; tick++) {
      node.pod('a', {}, 'G0').gpu('G0', { gpu_util: 7 })
      cluster.pass(50)
      const before = cluster.emitted.length
      cluster.pods.evaluate(cluster.nowMs)
      if (cluster.emitted.length > before) made++
    }
    assert.equal(made, 5, 'once a second')
  })
})

describe('what is gone leaves at once:', () => {
  test('a pod of which nothing is reported any more, and the service without pods', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    node.pod('a', { service: 'one' }, 'G0').pod('b', { service: 'two' }, 'G1')
    cluster.settle()
    for (let second = 0; second < 8; second++) {
      cluster.pass(1000)
      node.pod('b', { service: 'two' }, 'G1')
      cluster.settle()
      if (cluster.gone().length > 0) break
    }
    assert.deepEqual(cluster.gone(), [
      'pod_gpu{app="chat",service="one",namespace="ml",pod="a"} gone',
      'app_gpu{app="chat",service="one"} gone',
    ])
    assert.equal(cluster.pod('a'), undefined)
    assert.deepEqual([cluster.service('one')?.pods, cluster.service('one')?.util_ratio], [0, undefined])
    cluster.pass(1000)
    node.pod('b', { service: 'two' }, 'G1')
    cluster.settle()
    assert.deepEqual([cluster.gone(), cluster.service('one')], [[], undefined], 'it is said once')
    cluster.pass(1000)
    node.pod('a', { service: 'one' }, 'G0').pod('b', { service: 'two' }, 'G1')
    cluster.settle()
    assert.ok(cluster.pod('a'), 'it may come back')
  })

  test('all pods, when the source that knows them ends', () => {
    const cluster = new TestCluster()
    cluster.source().pod('a', {}, 'G0')
    cluster.settle()
    const gone: string[] = []
    for (let second = 0; second < 10; second++) {
      cluster.pass(1000)
      cluster.settle()
      gone.push(...cluster.gone())
    }
    assert.equal(gone.length, 2)
    assert.deepEqual([cluster.pods.counts.pods, cluster.pods.counts.rows], [0, 0])
  })

  test('a pod that a whole answer of its source lacks, once that says so', () => {
    const cluster = new TestCluster()
    const node = cluster.source({ intervalMs: 15_000 })
    const names = ['a"\\\n,pod="b', 'b']
    for (const [index, name] of names.entries()) node.pod(name, { service: 'one' }, `G${index}`)
    cluster.settle()
    cluster.pass(15_000)
    node.pod('b', { service: 'one' }, 'G1')
    node.gone(names[0] ?? '', 'ml', 'G0')
    cluster.settle()
    assert.equal(cluster.gone().filter((said) => said.startsWith('pod_gpu')).length, 1, 'one sample without it')
    assert.deepEqual([cluster.rows('pod_gpu').map(({ pod }) => pod), cluster.service('one')?.pods], [['b'], 1])
    cluster.pass(15_000)
    node.gone('b', 'ml', 'G1')
    cluster.settle()
    const none = { pods: 0, devices: 0, gpus: 0, series: 0, nics: 0, reasons: 0, rows: 0 }
    assert.deepEqual(cluster.pods.counts, none)
  })

  test('a device that another container of the pod holds still stays with it', () => {
    const cluster = new TestCluster()
    const node = cluster.source({ intervalMs: 15_000 }).pod('a', {}, 'G0')
    node.report(podDeviceType, { namespace: 'ml', pod: 'a', container: 'sidecar', UUID: 'G0', present: 1 })
    cluster.settle()
    cluster.pass(15_000)
    node.pod('a', {}, 'G0')
    node.records.gone(podDeviceType, { namespace: 'ml', pod: 'a', container: 'sidecar', UUID: 'G0' })
    cluster.settle()
    assert.equal(cluster.pod('a')?.count, 1)
  })

  test('a pod that an app or service has no longer', () => {
    const cluster = new TestCluster()
    const node = cluster.source().pod('a', { app: 'chat', service: 'old' }, 'G0')
    cluster.settle()
    cluster.pass(1000)
    node.pod('a', { app: 'talk', service: 'new' }, 'G0').gpu('G0', { gpu_util: 3 })
    cluster.settle()
    assert.deepEqual(cluster.gone(), [
      'pod_gpu{app="chat",service="old",namespace="ml",pod="a"} gone',
      'app_gpu{app="chat",service="old"} gone',
    ])
    assert.deepEqual(
      cluster.rows('pod_gpu').map(({ app, service, util_ratio }) => [app, service, util_ratio]),
      [['talk', 'new', 0.03]],
    )
  })
})

test('a pod that is started anew under its name holds other devices, and none of before', () => {
  const cluster = new TestCluster()
  const node = cluster.source()
  const gpus = () => node.gpu('G0', { gpu_util: 10, power_usage: 100 }).gpu('G1', { gpu_util: 90, power_usage: 700 })
  node.pod('a', { start_time_seconds: 100 }, 'G0')
  gpus()
  cluster.settle()
  assert.equal(cluster.pod('a')?.power_watts, 100)
  cluster.pass(1000)
  node.pod('a', { start_time_seconds: 200 }, 'G1')
  gpus()
  cluster.settle()
  const { count, power_watts, util_ratio, start_time_seconds } = cluster.pod('a') ?? {}
  assert.deepEqual([count, power_watts, util_ratio, start_time_seconds], [1, 700, 0.9, 200])
  assert.deepEqual(cluster.gone(), [], 'the pod is there')
})

test('names of labels that look alike when joined are pods, services and GPUs of their own', () => {
  const cluster = new TestCluster()
  const node = cluster.source()
  node.pod('b\nc', { namespace: 'a', app: 'x', service: 'y\nz' }, 'G0').gpu('G0', { gpu_util: 1 })
  node.pod('c', { namespace: 'a\nb', app: 'x\ny', service: 'z' }, 'G1').gpu('G1', { gpu_util: 2 })
  node.pod('d', { namespace: 'a', app: 'x', service: '"}' }, '",""]').gpu('",""]', { gpu_util: 3 })
  cluster.settle()
  assert.equal(cluster.rows('pod_gpu').length, 3)
  assert.equal(cluster.rows('app_gpu').length, 3)
  assert.deepEqual([cluster.pod('d')?.util_ratio, cluster.pod('d')?.instances], [0.03, 0])
})

test('simulated pods are told as such, apart from real pods of the same name', () => {
  const cluster = new TestCluster()
  const [real, made] = [cluster.source(), cluster.source({ labels: { simulated: 'true' } })]
  real.pod('a', {}, 'G0').gpu('G0', { gpu_util: 1 })
  made.pod('a', {}, 'G1').gpu('G1', { gpu_util: 2 })
  cluster.settle()
  const told = cluster.rows('pod_gpu').map(({ util_ratio, simulated }) => [util_ratio, simulated])
  assert.deepEqual(told.toSorted(), [
    [0.01, undefined],
    [0.02, 'true'],
  ])
  assert.equal(cluster.rows('app_gpu').length, 2)
})

test('a pod that asks for a GPU and has none has a row without numbers', () => {
  const cluster = new TestCluster()
  cluster.source().pod('a', { requested_gpus: 2 })
  cluster.settle()
  assert.deepEqual([cluster.pod('a')?.count, cluster.pod('a')?.requested_gpus], [0, 2])
  assert.equal(cluster.service('decode')?.util_pods, 0)
})

test('what applications report of pods and GPUs is left alone', () => {
  const cluster = new TestCluster()
  const pods = cluster.source()
  const { accept } = cluster.pods
  cluster.pods.accept = (batch) => accept.call(cluster.pods, { ...batch, origin: 'client' })
  pods.pod('a', {}, 'G0')
  cluster.settle()
  assert.deepEqual([cluster.pods.counts.pods, cluster.emitted.length], [0, 0])
})

test('what one source says of a pod and another does not stays, also while one of them is silent', () => {
  const cluster = new TestCluster()
  const exporter = cluster.source({ intervalMs: 1000 })
  const asked = cluster.source({ intervalMs: 1000 })
  const both = () => {
    exporter.gpu('G0', { gpu_util: 7 }).pod('a', { app: 'chat', service: 'decode' }, 'G0')
    asked.pod('a', { app: '', service: '', requested_gpus: 2, start_time_seconds: 1000 })
    asked.pod('b', { app: 'chat', service: 'decode', requested_gpus: 1 })
    cluster.settle()
  }
  for (let sample = 0; sample < 3; sample++) {
    both()
    const { app, requested_gpus, start_time_seconds, count } = cluster.pod('a') ?? {}
    assert.deepEqual([app, requested_gpus, start_time_seconds, count], ['chat', 2, 1000, 1])
    assert.deepEqual([cluster.pod('b')?.requested_gpus, cluster.pod('b')?.count], [1, 0])
    cluster.pass(1000)
  }
  for (let sample = 0; sample < 12; sample++) {
    asked.pod('a', { app: '', service: '', requested_gpus: 2, start_time_seconds: 1000 })
    cluster.settle()
    cluster.pass(1000)
  }
  const { app, service, requested_gpus, count } = cluster.pod('a') ?? {}
  assert.deepEqual(
    [app, service, requested_gpus, count],
    ['chat', 'decode', 2, 0],
    'its exporter is down, and it asks still',
  )
})
