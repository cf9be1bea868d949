import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OF_EXPORTER, OF_KUBELET } from '../sources/pods/evidence.ts'
import { TestCluster } from './test-cluster.ts'

const EXPORTER = { via: OF_EXPORTER.via }
const KUBELET = { via: OF_KUBELET.via }
const VALUES = { gpu_util: 50 }

function podsOf(cluster: TestCluster): unknown[] {
  cluster.settle()
  return cluster.rows('pod_gpu').map(({ pod, count }) => [pod, count])
}

test('on a node whose kubelet reports devices, an exporter that names another pod is refuted', () => {
  const cluster = new TestCluster()
  const [exporter, kubelet] = [cluster.source(), cluster.source()]
  exporter.gpu('GPU-a', VALUES).gpu('GPU-b', VALUES).claims('old', EXPORTER, 'GPU-a').claims('b', EXPORTER, 'GPU-b')
  assert.deepEqual(podsOf(cluster), [
    ['b', 1],
    ['old', 1],
  ])
  assert.equal(cluster.pods.details().get('ml/old')?.attribution.confidence, 'likely')
  kubelet.claims('new', KUBELET, 'GPU-a').claims('b', KUBELET, 'GPU-b')
  exporter.gpu('GPU-a', VALUES).gpu('GPU-b', VALUES).claims('old', EXPORTER, 'GPU-a').claims('b', EXPORTER, 'GPU-b')
  assert.deepEqual(podsOf(cluster), [
    ['b', 1],
    ['new', 1],
  ])
  assert.equal(cluster.pod('new')?.shared_with, 0, 'the refuted pod shares nothing')
  const details = cluster.pods.details()
  assert.deepEqual(details.get('ml/new')?.gpus, [
    { host: 'here', uuid: 'GPU-a', instance: '', via: 'kubelet', confidence: 'certain', doubt: '', resource: '' },
  ])
  assert.deepEqual(details.get('ml/new')?.attribution, {
    ...{ confidence: 'certain', from: ['kubelet'], appLabel: '', serviceLabel: '', labelsFrom: '' },
    ...{ phase: '', waiting: '' },
    notes: ['scrape labels of dcgm-exporter names ml/old for GPU-a; kubelet names ml/new'],
  })
  assert.deepEqual(details.get('ml/b')?.attribution.notes, [])
})

test('without the kubelet the exporter decides again', () => {
  const cluster = new TestCluster()
  const [exporter, kubelet] = [cluster.source(), cluster.source()]
  const tell = () => exporter.gpu('GPU-a', VALUES).claims('old', EXPORTER, 'GPU-a')
  tell()
  kubelet.claims('new', KUBELET, 'GPU-a')
  assert.deepEqual(podsOf(cluster), [['new', 1]])
  for (let second = 0; second < 60; second++) {
    cluster.pass(1000)
    tell()
  }
  assert.deepEqual(podsOf(cluster), [['old', 1]])
})

test('an exporter of another node is not refuted by the kubelet of this node', () => {
  const cluster = new TestCluster()
  const [there, kubelet] = [cluster.source({ host: 'there' }), cluster.source()]
  there.gpu('GPU-x', VALUES).claims('far', EXPORTER, 'GPU-x')
  kubelet.gpu('GPU-a', VALUES).claims('near', KUBELET, 'GPU-a')
  assert.deepEqual(podsOf(cluster), [
    ['far', 1],
    ['near', 1],
  ])
})

test('a source that contradicts itself is doubtful, with its reason', () => {
  const cluster = new TestCluster()
  const doubt = 'the kubelet lists GPU-a for ml/b too'
  cluster
    .source()
    .gpu('GPU-a', VALUES)
    .claims('a', { ...KUBELET, doubt }, 'GPU-a')
  podsOf(cluster)
  const { confidence, notes } = cluster.pods.details().get('ml/a')?.attribution ?? {}
  assert.deepEqual([confidence, notes], ['doubtful', [doubt]])
})
