import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident } from '@sonde/sdk/api'
import { annotationsWanted, matchingAnnotations } from '@sonde/sdk/internal'
import { annotationsOf } from './annotations.ts'

const incident = (more: Partial<Incident>): Incident => ({
  ...{ id: 'a:1', node: 'a', kind: 'hint', state: 'ended', severity: 'critical', rule: 'link_flap', device: 'nic-0' },
  ...{ title: 'NIC 0 flaps', sentence: 'mlx5_0 went down 3 times', startMs: 2000, endMs: 4000, end: 'ended' },
  ...{ affected: [], isSimulated: false, hints: [], ...more },
})
const listed = { fromMs: 1000, toMs: 9000, unknown: [] }

test('an incident is a region with its words and tags; an open one lasts until the end of the window', () => {
  const { endMs: _, ...open } = incident({ id: 'a:2', state: 'open', kind: 'event', isSimulated: true, startMs: 3000 })
  assert.deepEqual(annotationsOf({ ...listed, incidents: [open, incident({})] }, 'a'), [
    {
      ...{ id: 'a:2', time: 3000, timeEnd: 9000, title: 'NIC 0 flaps', text: 'mlx5_0 went down 3 times' },
      tags: ['sonde', 'a', 'event', 'link_flap', 'critical', 'nic-0', 'open', 'simulated'],
    },
    {
      ...{ id: 'a:1', time: 2000, timeEnd: 4000, title: 'NIC 0 flaps', text: 'mlx5_0 went down 3 times' },
      tags: ['sonde', 'a', 'hint', 'link_flap', 'critical', 'nic-0'],
    },
  ])
})

test('what is not known, and what an answer has no room for, are regions too', () => {
  const unknown = [{ fromMs: 5000, toMs: 6000, reason: 'Sonde did not run' }]
  const known = annotationsOf({ ...listed, incidents: [incident({})], unknown, next: 'more' }, 'a')
  assert.deepEqual(
    known.slice(1).map(({ time, timeEnd, text, tags }) => [time, timeEnd, text.slice(0, 17), tags]),
    [
      [5000, 6000, 'Sonde did not run', ['sonde', 'a', 'unknown']],
      [1000, 4000, 'more than 1000 in', ['sonde', 'a', 'unknown']],
    ],
  )
})

test('a request has times, or the last day; an annotation must have all tags', () => {
  assert.deepEqual(annotationsWanted({ from: '1', to: '2', tags: 'a, b,,a' }, 9), {
    fromMs: 1,
    toMs: 2,
    tags: ['a', 'b'],
  })
  assert.deepEqual(annotationsWanted({ from: '', to: '' }, 86_400_005), { fromMs: 5, toMs: 86_400_005, tags: [] })
  for (const query of [{ from: 'now-1h' }, { from: '5', to: '5' }, { to: '-1' }, { tags: ['a', 'b'] }])
    assert.throws(() => annotationsWanted(query, 9), { code: 'QRY_FORM' }, JSON.stringify(query))
  const all = annotationsOf({ ...listed, incidents: [incident({}), incident({ startMs: 1500, device: 'gpu-1' })] }, 'a')
  const times = (tags: readonly string[]) => matchingAnnotations(all, { tags }).map(({ time }) => time)
  assert.deepEqual([times([]), times(['hint', 'gpu-1']), times(['event'])], [[1500, 2000], [1500], []])
})
