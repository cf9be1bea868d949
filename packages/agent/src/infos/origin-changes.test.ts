import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, type ReadRecord, readRecords, viewsOf } from '@sonde/sdk'
import { periodType } from '@sonde/sdk/internal'
import { NodeRecords } from '../devices/test-node-records.ts'
import { latestSeries } from '../pipeline/latest.ts'
import { RecentRing } from '../pipeline/recent.ts'
import { docaDiagLinkType } from '../sources/doca-telemetry-phy/type.ts'
import { OriginChanges } from './origin-changes.ts'

/** A watch on a clock that the test sets, its log, and the records of its last evaluation. */
function watch() {
  let nowMs = 1000
  const logged: object[] = []
  const recent = new RecentRing()
  let emitted: (ReadRecord & { readonly of: string })[] = []
  const changes = new OriginChanges(
    (batch: Batch) => {
      const { type, source, bytes, count, symbols } = batch
      recent.accept({ ...batch, arrivedMs: nowMs })
      if (type.fingerprint === periodType.fingerprint) return
      for (const record of readRecords(type, viewsOf(bytes), count, symbols))
        emitted.push({ ...record, ...source.labels, of: type.name })
    },
    { warn: (facts: object) => void logged.push(facts) } as never,
  )
  const node = new NodeRecords({ accept: (batch: Batch) => changes.accept({ ...batch, arrivedMs: nowMs }) })
  const report = (origin: string, type = 'symbol_error') =>
    node.report(docaDiagLinkType, { device: 'mlx5_0', port: 1, type, origin, errors: 1 })
  const evaluate = (afterMs = 1000) => {
    emitted = []
    nowMs += afterMs
    changes.evaluate(nowMs)
    return emitted
  }
  return { changes, recent, node, report, evaluate, logged }
}

test('an origin that stays is silent; a change is logged and reported with the reason of the end', () => {
  const { node, report, evaluate, logged } = watch()
  report('doca_phy')
  report('doca_phy')
  assert.deepEqual([evaluate(), logged], [[], []])
  node.absences.gone(
    docaDiagLinkType,
    { device: 'mlx5_0', port: '1', type: 'symbol_error', origin: 'doca_phy' },
    'lost',
  )
  node.source.flush()
  report('rdma_driver')
  const [change, ...others] = evaluate()
  assert.deepEqual(others, [])
  const of = { metric: 'doca_diag_link_errors', device: 'mlx5_0', kind: 'symbol_error' }
  const what = { ...of, origin: 'rdma_driver', previous: 'doca_phy', reason: 'lost' }
  assert.partialDeepStrictEqual(change, { of: 'sonde_origin', ...what, changes_total: 1n })
  assert.deepEqual(logged, [what])
})

test('a change without a reason is of a source that started again; the next change replaces its series', () => {
  const { report, evaluate } = watch()
  report('doca_phy')
  report('rdma_driver')
  assert.deepEqual(evaluate(), [])
  assert.match(String(evaluate()[0]?.reason), /^its source started again/)
  report('doca_phy')
  evaluate()
  const told = evaluate()
  assert.partialDeepStrictEqual(
    told.find(({ of }) => of === 'sonde_absence'),
    { code: 'gone', type: 'sonde_origin' },
  )
  assert.partialDeepStrictEqual(
    told.find(({ of }) => of === 'sonde_origin'),
    { previous: 'rdma_driver', changes_total: 2n },
  )
})

test('a change is repeated each minute until its series is silent for an hour', () => {
  const { report, evaluate } = watch()
  report('doca_phy')
  report('rdma_driver')
  evaluate()
  evaluate()
  assert.equal(evaluate(61_000).length, 1)
  assert.equal(evaluate(1000).length, 0)
  assert.deepEqual(
    evaluate(3_700_000).map(({ code }) => code),
    ['gone'],
  )
})

test('a change is live until its next repeat, also if another kind changed later', () => {
  const { recent, report, evaluate } = watch()
  for (const kind of ['symbol_error', 'link_downed']) {
    report('doca_phy', kind)
    report('rdma_driver', kind)
    for (let second = 0; second < 20; second++) evaluate()
  }
  assert.equal(latestSeries(recent, { metric: 'sonde_origin_changes_total' }).length, 2)
})

test('a flood of series is bounded, and counted', () => {
  const { report, changes } = watch()
  for (let kind = 0; kind < 16_500; kind++) report('doca_phy', `kind_${kind}`)
  assert.equal(changes.stats.dropped.get('origin_limit'), 16_500 - 16_384)
})
