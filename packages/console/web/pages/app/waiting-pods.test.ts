import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GPU_FIELDS, type GpuField, type GpuPod } from '@sonde/sdk/api'
import { missingCauses } from './waiting-pods.ts'

function pod(name: string, reason: string, more: Partial<GpuPod> = {}): GpuPod {
  const values = Object.fromEntries(GPU_FIELDS.map((field) => [field, null])) as Record<GpuField, number | null>
  const started = { startedMs: 1, ageMs: null, isWarming: false, isScheduled: true, isSimulated: false }
  const held = { gpus: 0, instances: 0, sharedWith: 0, requested: 1, values, deviceValues: {} }
  const told = {
    gaps: [{ fields: GPU_FIELDS, reason }],
    attribution: null,
    node: '',
    condition: { rank: 9, tone: 'ok' as const, words: 'ok' },
  }
  return { namespace: 'a', service: 'api', ...started, ...held, name, ...told, ...more }
}

test('a banner says why pods have no utilisation, in the words of what should have told it', () => {
  const pods = [pod('a', 'the driver reported 4294967295'), pod('b', 'it waits to be scheduled')]
  assert.equal(missingCauses(['a'], pods), 'The numbers leave them out. The driver reported 4294967295.')
  assert.equal(
    missingCauses(['a', 'b'], pods),
    'The numbers leave them out. a: the driver reported 4294967295. b: it waits to be scheduled.',
  )
  const many = Array.from({ length: 5 }, (_, i) => pod(`p${i}`, `reason ${i}`))
  assert.match(
    missingCauses(
      many.map(({ name }) => name),
      many,
    ),
    /p2: reason 2\. And 2\sother reasons: see the table/,
  )
})
