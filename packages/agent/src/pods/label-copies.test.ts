import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPrometheus } from '@sonde/sdk'
import { LabelCopies } from './label-copies.ts'
import { TestCluster } from './test-cluster.ts'

/** A cluster whose `/metrics` has the labels of pods. */
function bringUp() {
  const prometheus = createPrometheus()
  let changes = 0
  const copies = new LabelCopies({
    host: 'here',
    set: (labels) => {
      changes++
      prometheus.addLabels(labels)
    },
  })
  const cluster = new TestCluster(undefined, { onPods: (pods) => copies.follow(pods) })
  cluster.onBatch = (batch) => prometheus.accept(batch)
  const labelsOf = async (metric: string) => {
    const { chunks, release } = await prometheus.render()
    const text = Buffer.concat(chunks).toString()
    release()
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`))
    return lines.map((line) => /UUID="([^"]*)".*?(,namespace=.*|,team=.*)?\}/.exec(line)?.slice(1).join('') ?? '')
  }
  return { cluster, labelsOf, changes: () => changes, node: cluster.source() }
}

const UTIL = 'DCGM_FI_DEV_GPU_UTIL'
const TEAM = JSON.stringify({ team: 'vision', 'app.kubernetes.io/part-of': 'llm', gpu: '9' })

test('series of a GPU have the labels of its pod, spelled as by exporters, and lose them when it ends', async () => {
  const { cluster, labelsOf, changes, node } = bringUp()
  const sample = () => node.gpu('GPU-a', { gpu_util: 50 }).gpu('GPU-b', { gpu_util: 50 })
  sample()
  cluster.settle()
  assert.deepEqual(await labelsOf(UTIL), ['GPU-a', 'GPU-b'])
  for (let second = 0; second < 3; second++) {
    cluster.pass(1000)
    sample().pod('p', { labels: TEAM }, 'GPU-a')
    cluster.settle()
  }
  const copied = ',team="vision",app_kubernetes_io_part_of="llm",namespace="ml",pod="p"'
  assert.deepEqual(await labelsOf(UTIL), [`GPU-a${copied}`, 'GPU-b'])
  assert.equal(changes(), 1, 'equal labels are not set again')
  node.gone('p', 'ml', 'GPU-a')
  cluster.settle()
  assert.deepEqual(await labelsOf(UTIL), ['GPU-a', 'GPU-b'])
})

test('a GPU of two pods has the labels of neither, and an instance has those of its pod alone', async () => {
  const { cluster, labelsOf, node } = bringUp()
  node.gpu('GPU-a', { gpu_util: 50 }).gpu('GPU-b', { gpu_util: 50 }).instance('GPU-b', 7, { fb_used: 1 })
  node.pod('p', {}, 'GPU-a').pod('q', {}, 'GPU-a').pod('r', {}, 'GPU-b/7')
  cluster.settle()
  assert.deepEqual(await labelsOf(UTIL), ['GPU-a', 'GPU-b'])
  assert.deepEqual(await labelsOf('DCGM_FI_DEV_FB_USED'), ['GPU-b,namespace="ml",pod="r"'])
})
