import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, defineType, gauge, label, timestamp } from '@sonde/sdk'
import { openStore } from '../../test/open-store.ts'
import { appsOf, servicesBySize } from './ranking.ts'

const appGpuType = defineType('app_gpu', 'Rows of services', {
  time: timestamp(),
  ...{ app: label(), service: label(), instance: label(), job: label() },
  ...{ util_ratio: gauge('f64'), util_min_ratio: gauge('f64'), util_max_ratio: gauge('f64'), util_pods: gauge('u32') },
  ...{ power_watts: gauge('f64'), power_pods: gauge('u32'), pods: gauge('u32') },
})
const appGpusType = defineType('app', 'Rows of services', {
  time: timestamp(),
  ...{ app: label(), service: label(), instance: label(), job: label() },
  gpus: gauge('u32'),
})

test('a service on several nodes is one, with the pods of all; a node that two jobs scrape counts once', async (t) => {
  const { store, close } = await openStore()
  t.after(close)
  const source = createSource({ id: 'pods', intervalMs: 15_000, emit: (batch) => store.accept(batch) })
  // The latest value is that of the last full second.
  const time = BigInt(Date.now() - 2000) * 1_000_000n
  const rows = [
    { instance: 'a', job: 'one', pods: 3, util: 0.8, gpus: 6 },
    { instance: 'a', job: 'two', pods: 3, util: 0.8, gpus: 6 },
    { instance: 'b', job: 'one', pods: 1, util: 0.4, gpus: 2 },
  ]
  for (const { instance, job, pods, util, gpus } of rows) {
    const common = { time, app: 'shop', service: 'chat', instance, job }
    const ofUtil = { util_ratio: util, util_min_ratio: util - 0.2, util_max_ratio: util + 0.1, util_pods: pods }
    source.report(appGpuType, { ...common, ...ofUtil, power_watts: 100 * pods, power_pods: pods, pods })
    source.report(appGpusType, { ...common, gpus })
  }
  await source.flush()
  await store.flush()
  const sizes = await servicesBySize(store)
  assert.equal(sizes.length, 1)
  const [{ pods, gpus, util, power } = assert.fail()] = sizes
  assert.deepEqual([pods, gpus, util?.count, power], [4, 8, 4, { avg: 250, count: 4 }])
  assert.deepEqual(
    [util?.avg, util?.min, util?.max].map((value) => Math.round(value ?? 0)),
    [70, 20, 90],
  )
  const [app] = appsOf(sizes, undefined)
  assert.deepEqual([app?.services, app?.pods, app?.gpus, app?.powerW], [1, 4, 8, 1000])
})
