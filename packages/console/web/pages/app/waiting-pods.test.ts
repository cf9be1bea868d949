import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GPU_FIELDS } from '@sonde/sdk/internal'
import type { GpuField, GpuPod } from '../../api/apps.ts'
import { isUnscheduled, missingCauses } from './waiting-pods.ts'

function pod(name: string, more: Partial<GpuPod> = {}): GpuPod {
  const values = Object.fromEntries(GPU_FIELDS.map((field) => [field, null])) as Record<GpuField, number | null>
  const started = { startedMs: 1, ageMs: null, isWarming: false, isSimulated: false }
  return { namespace: 'a', service: 'api', instances: 0, ...started, name, gpus: 0, requested: 1, values, ...more }
}

test('a pod that waits to be scheduled is not blamed on exporter, plugin or GPU', () => {
  const waiting = pod('a', { startedMs: null })
  assert.equal(isUnscheduled(waiting), true)
  assert.equal(
    missingCauses(['a'], [waiting]),
    'The numbers leave them out. Of 1 no start is known: it waits to be scheduled.',
  )
  assert.match(missingCauses(['a', 'b'], [waiting, pod('b')]), /it waits to be scheduled\. Of the others: The exporter/)
  assert.doesNotMatch(missingCauses(['b'], [waiting, pod('b')]), /scheduled/)
})

test('without kube-state-metrics no pod is said to wait', () => {
  assert.equal(isUnscheduled(pod('a', { startedMs: null, requested: null })), false)
})
