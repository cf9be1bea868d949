import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineType, gauge, label, optional, timestamp } from '@sonde/sdk'
import { until } from '../../../sdk/test/helper.ts'
import { podDeviceType } from '../sources/pods/type.ts'
import { TestCluster } from './test-cluster.ts'

const MIB = 2 ** 20

const memory = () => optional(gauge('u32'))
/** An exporter may leave fields out that NVML always has. */
const exporterType = defineType('nvml_gpu', 'Of an exporter', {
  time: timestamp(),
  UUID: label(),
  fb_used: memory(),
  fb_free: memory(),
  fb_reserved: memory(),
})

describe('numbers in two levels:', () => {
  test('ratios are averaged over the GPUs of a pod, then over pods, memory and power summed within a pod', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    node.pod('a', {}, 'G0', 'G1', 'G2').pod('b', {}, 'G3')
    for (const [index, util] of [25, 50, 75, 100].entries()) {
      node.gpu(`G${index}`, { gpu_util: util, power_usage: 100 + index, fb_used: 10, fb_free: 5, fb_reserved: 1 })
      node.profile(`G${index}`, { sm_active: util / 200, pipe_fp16_active: 0.25 })
    }
    cluster.settle()
    const [a, b] = [cluster.pod('a'), cluster.pod('b')]
    assert.deepEqual([a?.count, a?.util_ratio, a?.power_watts], [3, 0.5, 303])
    assert.deepEqual([a?.memory_used_bytes, a?.memory_total_bytes], [30 * MIB, 48 * MIB])
    assert.deepEqual([a?.sm_active_ratio, a?.fp16_active_ratio], [0.25, 0.25])
    assert.deepEqual([b?.util_ratio, b?.power_watts, b?.memory_used_bytes], [1, 103, 10 * MIB])
    const all = cluster.service('decode')
    assert.deepEqual(
      [all?.util_ratio, all?.util_min_ratio, all?.util_max_ratio, all?.util_pods],
      [0.75, 0.5, 1, 2],
      'the mean of the pods, and not of the four GPUs',
    )
    assert.deepEqual([all?.power_watts, all?.power_min_watts, all?.power_max_watts], [203, 103, 303])
    assert.deepEqual([all?.pods, all?.gpus], [2, 4])
  })

  test('a GPU without a number takes no part in a mean, and leaves a sum unknown', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    node.pod('a', {}, 'G0', 'G1').pod('b', {}, 'G2')
    node.gpu('G0', { gpu_util: 40, power_usage: 300, fb_used: 1 }).gpu('G1', { power_usage: 200, fb_used: 2 })
    node.gpu('G2', { gpu_util: 0, power_usage: 70, fb_used: 4, fb_free: 1, fb_reserved: 1 })
    cluster.settle()
    assert.equal(cluster.pod('a')?.util_ratio, 0.4)
    assert.equal(cluster.pod('a')?.sm_active_ratio, undefined, 'nothing says it')
    assert.equal(cluster.pod('b')?.util_ratio, 0, 'idle is a number')
    // The other GPU of the pod falls silent.
    for (let second = 0; second < 10; second++) {
      cluster.pass(1000)
      node.pod('a', {}, 'G0', 'G1').pod('b', {}, 'G2')
      node.gpu('G0', { gpu_util: 40, power_usage: 300, fb_used: 1 })
      cluster.settle()
    }
    assert.deepEqual([cluster.pod('a')?.util_ratio, cluster.pod('a')?.count], [0.4, 2])
    assert.equal(cluster.pod('a')?.power_watts, undefined, 'the sum of one of two would be too small')
    assert.equal(cluster.pod('a')?.memory_used_bytes, undefined)
    assert.deepEqual([cluster.pod('b')?.util_ratio, cluster.pod('b')?.sample_age_seconds], [undefined, undefined])
    assert.deepEqual(
      [cluster.service('decode')?.util_pods, cluster.service('decode')?.power_pods, cluster.service('decode')?.pods],
      [1, 0, 2],
    )
  })

  test('memory in all is unknown where a part of it is', () => {
    const cluster = new TestCluster()
    cluster.source().pod('a', {}, 'G0').report(exporterType, { UUID: 'G0', fb_used: 10, fb_reserved: 1 })
    cluster.settle()
    assert.equal(cluster.pod('a')?.memory_used_bytes, 10 * MIB)
    assert.equal(cluster.pod('a')?.memory_total_bytes, undefined)
  })

  test('pods with MIG instances have memory and activity, and neither utilisation nor power', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    node.pod('a', { service: 'notebook' }, 'G0/1', 'G0/2').pod('b', { service: 'mixed' }, 'G0/3', 'G1')
    node.gpu('G0', { power_usage: 400 }).gpu('G1', { gpu_util: 50, power_usage: 300, fb_used: 7 })
    for (const id of [1, 2, 3]) node.instance('G0', id, { fb_used: id, fb_free: 1, sm_active: id / 10 })
    cluster.settle()
    const [a, b] = [cluster.pod('a'), cluster.pod('b')]
    assert.deepEqual([a?.count, a?.instances], [2, 2])
    assert.deepEqual([a?.memory_used_bytes, a?.memory_total_bytes], [3 * MIB, 5 * MIB])
    assert.ok(Math.abs(Number(a?.sm_active_ratio) - 0.15) < 1e-6)
    assert.deepEqual([a?.util_ratio, a?.power_watts], [undefined, undefined])
    assert.deepEqual([b?.count, b?.instances, b?.util_ratio], [2, 1, 0.5])
    assert.equal(b?.power_watts, undefined, 'that of the instance is not known')
    assert.equal(b?.memory_used_bytes, 10 * MIB)
  })
})

describe('GPUs are those of a host and UUID:', () => {
  test('two hosts with equal indexes, and even equal UUIDs, are two', () => {
    const cluster = new TestCluster()
    const [near, far] = [cluster.source(), cluster.source({ host: 'far' })]
    near.pod('a', {}, 'G0').gpu('G0', { gpu_util: 10, power_usage: 100 })
    far.pod('b', {}, 'G0').gpu('G0', { gpu_util: 90, power_usage: 700 })
    near.pod('c', {}, 'G1').gpu('G1', { gpu_util: 50, power_usage: 300 })
    cluster.settle()
    const numbers = ['a', 'b', 'c'].map((name) => [cluster.pod(name)?.util_ratio, cluster.pod(name)?.power_watts])
    assert.deepEqual(numbers, [
      [0.1, 100],
      [0.9, 700],
      [0.5, 300],
    ])
  })

  test('a label of the record names the host, also where another host tells of the pod', () => {
    const cluster = new TestCluster()
    const [gpus, pods] = [cluster.source({ host: 'node7' }), cluster.source()]
    gpus.gpu('G0', { gpu_util: 33 })
    pods.pod('a', {})
    const device = { container: 'main', UUID: 'G0', Hostname: 'node7', present: 1 }
    pods.report(podDeviceType, { namespace: 'ml', pod: 'a', ...device })
    cluster.settle()
    assert.equal(cluster.pod('a')?.util_ratio, 0.33)
  })

  test('the source that came first is believed as long as it reports, then the other', () => {
    const cluster = new TestCluster()
    const [first, second] = [cluster.source(), cluster.source()]
    const sample = (isFirstThere: boolean) => {
      cluster.pass(1000)
      first.pod('a', {}, 'G0')
      if (isFirstThere) first.gpu('G0', { gpu_util: 20 })
      second.gpu('G0', { gpu_util: 80 })
      cluster.settle()
      return cluster.pod('a')?.util_ratio
    }
    assert.deepEqual([sample(true), sample(true), sample(true)], [0.2, 0.2, 0.2])
    for (let i = 0; i < 6; i++) sample(false)
    assert.equal(sample(false), 0.8)
  })

  test('a GPU that comes back after it was forgotten is known again', () => {
    const cluster = new TestCluster()
    const node = cluster.source()
    const sample = (hasBoth: boolean) => {
      node.pod('a', {}, 'G0').pod('b', {}, 'G1').gpu('G1', { gpu_util: 2 })
      if (hasBoth) node.gpu('G0', { gpu_util: 1 })
      cluster.settle()
      cluster.pass(2000)
    }
    sample(true)
    for (let i = 0; i < 300; i++) sample(false)
    assert.deepEqual([cluster.pods.counts.gpus, cluster.pods.counts.series], [1, 1])
    assert.equal(cluster.pod('a')?.util_ratio, undefined)
    sample(true)
    assert.equal(cluster.pod('a')?.util_ratio, 0.01)
  })

  test('two series of one GPU from one source, as labels that changed, are one GPU', () => {
    const cluster = new TestCluster()
    const node = cluster.source().pod('a', {}, 'G0')
    node.gpu('G0', { gpu: '0', gpu_util: 5 }).gpu('G0', { gpu: '3', gpu_util: 9 })
    cluster.settle()
    assert.deepEqual([cluster.pod('a')?.util_ratio, cluster.pod('a')?.count], [0.09, 1], 'the later record holds')
  })
})

test('rows of more pods than fit a turn come in later ones, all of one sample, and once', async () => {
  const cluster = new TestCluster(() => true)
  const node = cluster.source()
  for (let pod = 0; pod < 1000; pod++) node.pod(`pod${pod}`, { service: `service${pod % 3}`, requested_gpus: 1 })
  cluster.settle()
  assert.equal(cluster.service('service0'), undefined, 'services wait for the rows of all pods')
  // Calls in the meantime do not restart it.
  cluster.pods.evaluate(cluster.nowMs + 1)
  await until('the rows of services', () => cluster.rows('app_gpu').length === 3)
  const rows = cluster.rows('pod_gpu')
  assert.equal(new Set(rows.map(({ pod }) => pod)).size, 1000)
  assert.equal(rows.length, 1000)
  assert.equal(new Set([...rows, ...cluster.rows('app_gpu')].map(({ time }) => time)).size, 1)
})
