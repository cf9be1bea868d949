// An application that reports what Sonde makes itself of GPUs and pods.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createIpc, createSource, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'
import type { PodsAnswer } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const labels = { app: label('App'), service: label('Service'), namespace: label('Namespace'), pod: label('Pod') }
const forgedType = defineType('pod_gpu', 'Pods that are none', {
  time: timestamp(),
  ...labels,
  instances: gauge('u32'),
})
const renamedType = defineType('conveyor', 'The same by another name', {
  ...{ time: timestamp(), ...labels },
  belts: gauge('u32', { metric: 'pod_gpus' }),
})
/** The GPU of the node, as its own source reports it. */
const gpuType = defineType('conveyor_gpu', 'A GPU that is none', {
  time: timestamp(),
  UUID: label('UUID'),
  heat: gauge('f64', { metric: 'DCGM_FI_DEV_GPU_TEMP' }),
})
/** A row of a service that is newer than those of all pods says that these are gone. */
const serviceType = defineType('app_gpu', 'A service', {
  time: timestamp(),
  app: label('App'),
  service: label('Service'),
  pods: gauge('u32'),
})

const TEMPERATURES = '/api/v1/series?metric=DCGM_FI_DEV_GPU_TEMP'

interface SeriesList {
  readonly series: readonly { readonly labels: Readonly<Record<string, string>> }[]
}

test('an application says nothing of pods, apps and GPUs of the node, and is told so', async (t) => {
  const dir = temporaryDir()
  t.after(() => dir.remove())
  const socketsDir = join(dir.path, 'sockets')
  const env = { SONDE_SERVICE_ENABLED: 'true', SONDE_SERVICE_SOCKETS_DIR: socketsDir }
  const sonde = await startSonde(['agent', '--only-simulated', '--simulate-class', 'dpu-host'], { env })
  t.after(() => sonde.stop('SIGKILL'))
  const pods = () => ask<PodsAnswer>(sonde, '/api/v1/pods').then((answer) => answer.pods.map(({ name }) => name))
  const honest = await until('the simulated pods', 60_000, async () => {
    const names = await pods()
    return names.length === 4 && names
  })
  const before = await ask<SeriesList>(sonde, TEMPERATURES)
  const uuid = before.series[0]?.labels.UUID ?? ''
  const sink = createIpc({ socketsDir, program: 'forger' })
  t.after(() => sink.close())
  const source = createSource({ id: 'forger', emit: (batch) => sink.accept(batch) })
  for (let i = 0; i < 12; i++) {
    const one = { time: wallNs(), app: 'llama', service: 'chat', namespace: 'lab' }
    source.report(forgedType, { ...one, pod: 'forged', instances: 77 })
    source.report(renamedType, { ...one, pod: 'renamed', belts: 77 })
    source.report(gpuType, { time: one.time, UUID: uuid, heat: 5 })
    source.report(serviceType, { time: one.time, app: 'llama', service: 'chat', pods: 0 })
    source.flush()
    await sink.flush().catch(() => undefined)
    assert.deepEqual(await pods(), honest)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  assert.deepEqual([...sink.stats.dropped], [['made_metric', 48]])
  const after = await ask<SeriesList>(sonde, TEMPERATURES)
  assert.equal(after.series.filter(({ labels }) => labels.UUID === uuid).length, 1, 'no other series of the GPU')
})
