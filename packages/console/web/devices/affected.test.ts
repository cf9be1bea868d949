import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '@sonde/sdk/api'
import { affectedDevices, affectedWords, nameAgain, orderTone } from './affected.ts'
import { testHint } from './test-hints.ts'

function testIncident(id: string, more: Partial<Incident> = {}): Incident {
  return {
    ...{ id, node: 'a-node', kind: 'hint', state: 'open', severity: 'warning', rule: 'straggler', device: 'gpu-3' },
    ...{ title: `Incident ${id}`, sentence: '', startMs: 1, affected: [], isSimulated: false, hints: [testHint()] },
    ...more,
  }
}

test('a device is affected by each incident that names it, and its mark tells the worst', () => {
  const affected = affectedDevices([
    testIncident('a', { affected: ['gpu-1', 'gpu-2'] }),
    testIncident('b', { affected: ['gpu-2'], severity: 'critical' }),
    testIncident('c', { affected: ['gpu-2'], severity: 'notice' }),
  ])
  assert.deepEqual([...affected.keys()].sort(), ['gpu-1', 'gpu-2'])
  assert.deepEqual(
    affected.get('gpu-2')?.map(({ id }) => id),
    ['b', 'a', 'c'],
  )
  assert.equal(affectedWords(affected.get('gpu-1')!), 'Affected by the incident: Incident a')
  assert.equal(affectedWords(affected.get('gpu-2')!), 'Affected by the incident: Incident b, and by 2 more')
})

test('an incident that was never confirmed affects nothing', () => {
  const dismissed = [testHint({ outcome: 'dismissed' })]
  assert.equal(affectedDevices([testIncident('a', { affected: ['gpu-1'], hints: dismissed })]).size, 0)
})

test('a list puts an affected device after sick devices and before well ones', () => {
  const by = affectedDevices([testIncident('a', { affected: ['gpu-1'] })]).get('gpu-1')
  assert.deepEqual(
    [orderTone('ok', by), orderTone('critical', by), orderTone('ok', undefined)],
    [...(['affected', 'critical', 'ok'] as const)],
  )
})

test('an open incident goes on to affect a device for half a minute, and an incident that ended affects nothing', () => {
  const naming = (...affected: string[]) => [testIncident('a', { affected })]
  let named = nameAgain(new Map(), naming('gpu-1', 'gpu-2'), 0)
  const namedNow = () => [...(named.get('a')?.keys() ?? [])]
  named = nameAgain(named, naming('gpu-2'), 5_000)
  named = nameAgain(named, naming(), 10_000)
  assert.deepEqual(namedNow(), ['gpu-1', 'gpu-2'])
  named = nameAgain(named, naming(), 30_000)
  assert.deepEqual(namedNow(), ['gpu-2'])
  named = nameAgain(named, [], 31_000)
  named = nameAgain(named, naming(), 32_000)
  assert.deepEqual(namedNow(), [])
})
