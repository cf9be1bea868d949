import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPrometheus, type SourceInfo, wallNs } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import { podNicType } from '../sources/pod-nics/type.ts'
import { TestCluster } from './test-cluster.ts'

const STEP_MS = 300_000
const STEPS_A_DAY = 288
const DAYS = 30
/** Pods at a time, of which so many are new at each step: 69 000 names in a month, more than a table holds. */
const PODS = 16
const NEW_PODS = 8

/** Pods of so many steps are kept beside the present pods: they are gone after three periods. */
const KEPT_STEPS = 2

test('a month of pods, GPUs, NICs and services that come and go leaves nothing behind', async () => {
  const cluster = new TestCluster()
  const node = cluster.source({ intervalMs: STEP_MS })
  // Series do not expire here: they leave the view only when they are reported as gone.
  const view = createPrometheus({ seriesExpiryS: 86_400 })
  const owners = new Set<object>()
  const sources = new Set<SourceInfo>()
  let most: Record<string, number> = {}
  const tell = (name: number, code: string) => {
    const series = `namespace="ml",pod="pod${name}",container="",UUID="GPU-${name}"`
    const field = code === 'gone' ? '' : 'util_ratio'
    node.report(absenceType, { time: wallNs(), type: 'pod_share', series, field, code, reason: 'it is a test' })
  }
  for (let step = 0; step < DAYS * STEPS_A_DAY; step++) {
    cluster.pass(STEP_MS)
    for (let i = 0; i < PODS; i++) {
      const name = step * NEW_PODS + i
      // A new app each day, a service a pod; a replaced or repartitioned GPU has another UUID.
      const info = { app: `app${Math.floor(step / STEPS_A_DAY)}`, service: `service${name}`, start_time_seconds: step }
      node.pod(`pod${name}`, info, `GPU-${name}`).gpu(`GPU-${name}`, { gpu_util: i })
      const labels = { namespace: 'ml', pod: `pod${name}`, rdma_device: `mlx5_${name}` }
      node.report(podNicType, { ...labels, interface: 'eth0', pci_address: `0000:3b:${i}.0`, own: 1 })
      tell(name, 'unsupported')
    }
    // The processes of the pods that left used the GPU until then.
    for (let i = 0; i < NEW_PODS && step > 0; i++) tell((step - 1) * NEW_PODS + i, 'gone')
    cluster.settle()
    for (const batch of cluster.emitted.splice(0)) {
      view.accept(batch)
      owners.add(batch.source.owner ?? batch.source)
      sources.add(batch.source)
    }
    for (const [name, count] of Object.entries(cluster.pods.counts))
      most = { ...most, [name]: Math.max(most[name] ?? 0, count) }
    // As an agent does between two samples: a view works off what came in turns.
    if (step % 20 === 19) await view.flush()
    if (step % 1000 === 999) assert.equal(await linesOf(view), (PODS + KEPT_STEPS * NEW_PODS) * 2, `at step ${step}`)
  }
  const limit = PODS + KEPT_STEPS * NEW_PODS
  assert.deepEqual(
    Object.entries(most).filter(([name, count]) => count > limit * (name === 'rows' ? 2 : 1)),
    [],
  )
  assert.equal(owners.size, 1)
  assert.ok(sources.size >= 2, 'tables of labels were replaced')
  assert.deepEqual([[...cluster.pods.stats.dropped], [...view.stats.dropped]], [[], []])
})

/** Rows of pods and of services that `/metrics` shows. */
async function linesOf(view: ReturnType<typeof createPrometheus>): Promise<number> {
  const scrape = await view.render()
  const text = Buffer.concat(scrape.chunks).toString()
  scrape.release()
  return text.split('\n').filter((line) => /^(pod_gpus|app_gpu_pods)\{/.test(line)).length
}
