// A whole `sonde up` in one process, its store filled with a day of an app of 100 services, whose rows then go on live.
import { appRoutes, createStore } from '@sonde/console'
import type { Batch } from '@sonde/sdk'
import { createOwnSource } from '@sonde/sdk/internal'
import { podGpuType } from '../../packages/agent/src/pods/type.ts'
import { APP, HOURS, INTERVAL_MS, rowsInto, SERVICES, serviceName } from '../dashboard-api/load.ts'
import { listen, makeAgent } from './listen.ts'

const LIMITS = { services: SERVICES, concurrent: 10, cells: 250_000 }

const [path = ''] = process.argv.slice(2)
const store = await createStore({ path, queueLimitBytes: 256 << 20 })
let take = (batch: Batch): void => store.accept(batch)
const emit = (batch: Batch): void => take(batch)
const nowMs = Math.floor(Date.now() / INTERVAL_MS) * INTERVAL_MS
const report = rowsInto(emit, nowMs - HOURS * 3_600_000)
for (let hour = 0; hour < HOURS; hour++) {
  report(hour)
  await store.flush()
  await store.maintain()
}

const pods = createOwnSource({ id: 'pods of now', labels: {}, intervalMs: INTERVAL_MS, emit })

/** One pod a service: cards and table are drawn before the charts are. */
function reportPods(): void {
  const time = BigInt(Date.now()) * 1_000_000n
  for (let service = 0; service < SERVICES; service++) {
    const labels = { app: APP, service: serviceName(service), namespace: 'ml', pod: `${serviceName(service)}-0` }
    pods.report(podGpuType, {
      time,
      ...labels,
      count: 1,
      instances: 0,
      shared_with: 0,
      util_ratio: service / SERVICES,
    } as never)
  }
  pods.emit()
}

const agent = makeAgent(store)
take = (batch) => agent.router.accept(batch)
reportPods()
const timer = setInterval(reportPods, INTERVAL_MS)
await listen(
  agent,
  () => clearInterval(timer),
  (app) => appRoutes(app, { history: store, limits: () => LIMITS }),
)
