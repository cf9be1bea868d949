import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wallNs } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { TestCluster } from './test-cluster.ts'

const BLIND = { code: 'denied', reason: 'set hostPID: true' }

test('a pod on a shared GPU has the reason why the use of its processes is not known', () => {
  const cluster = new TestCluster()
  const node = cluster.source()
  const tell = (series: string, field: string, { code, reason }: typeof BLIND) => {
    node.report(absenceType, { time: wallNs(), type: 'pod_share', series, field, code, reason })
    node.pod('a', {}, 'G0').pod('b', {}, 'G0').pod('c', {}, 'G1')
    node.gpu('G0', { gpu_util: 40, fb_used: 1 }).gpu('G1', { gpu_util: 50, fb_used: 1 })
    cluster.settle()
    cluster.pass(1000)
  }
  const reasons = () =>
    cluster
      .rows('sonde_absence')
      .filter(({ type, code }) => type === 'pod_gpu' && code !== '')
      .filter(({ field }) => field === 'util_ratio' || field === 'memory_used_bytes')
      .map(({ series, field, reason }) => `${/pod="(\w)"/.exec(String(series))?.[1]} ${field}: ${reason}`)
      .sort()
  tell('', '', BLIND)
  assert.deepEqual(reasons(), [
    'a memory_used_bytes: set hostPID: true',
    'a util_ratio: set hostPID: true',
    'b memory_used_bytes: set hostPID: true',
    'b util_ratio: set hostPID: true',
  ])
  assert.equal(cluster.pod('c')?.util_ratio, 0.5, 'the GPU of one pod needs no processes')
  tell('', '', { code: '', reason: '' })
  tell('namespace="ml",pod="a",container="",UUID="G0"', 'util_ratio', { code: 'unsupported', reason: 'no driver' })
  assert.ok(reasons().includes('b util_ratio: no driver'), String(reasons()))
  const ofB = 'namespace="ml",pod="b",container="",UUID="G0"'
  tell(ofB, 'util_ratio', { code: 'unsupported', reason: 'no driver' })
  tell(ofB, '', { code: 'gone', reason: 'no process of it uses the GPU any more' })
  assert.ok(cluster.pods.counts.reasons === 1, 'the reason of the other pod stays')
})
